#!/bin/sh
# Before the package is removed, not before an upgrade: stops the hub. Data, settings and user stay.
set -e
case $1 in
  remove | 0) # dpkg says remove, rpm how many versions will be left
    if [ -d /run/systemd/system ]; then
      systemctl disable --now hub.service
    fi
    ;;
esac
