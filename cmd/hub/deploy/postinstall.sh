#!/bin/sh
# After the package was installed or upgraded: creates the user, and restarts a hub that is running.
set -e
if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers hub.conf
elif ! getent passwd hub >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/hub --shell /usr/sbin/nologin hub
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart hub.service
fi
