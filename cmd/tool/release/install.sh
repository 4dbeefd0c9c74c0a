#!/bin/sh
# Installs a release of tool into ~/.local/bin, after its checksum has been verified.
#
#   sh install.sh ADDRESS VERSION [DIRECTORY]
#   sh install.sh https://downloads.example.com/releases 1.2.3 /usr/local/bin
#
# The files of the release are at ADDRESS/vVERSION: tool_VERSION_SYSTEM_ARCHITECTURE.tar.gz and SHA256SUMS.
set -eu

fail() {
  echo "error: $1" >&2
  exit 1
}

[ $# -ge 2 ] && [ $# -le 3 ] || fail 'usage: sh install.sh ADDRESS VERSION [DIRECTORY]'
version=${2#v}
release=${1%/}/v$version
directory=${3:-$HOME/.local/bin}

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no archive for $(uname -s) that this script can install" ;;
esac
case $(uname -m) in
  x86_64 | amd64) architecture=amd64 ;;
  aarch64 | arm64) architecture=arm64 ;;
  *) fail "there is no archive for $(uname -m)" ;;
esac

if command -v sha256sum >/dev/null; then
  sum() { sha256sum "$1"; }
elif command -v shasum >/dev/null; then
  sum() { shasum -a 256 "$1"; }
else
  fail 'cannot verify the download: install sha256sum or shasum'
fi
if command -v curl >/dev/null; then
  download() { curl --fail --silent --show-error --location --output "$2" -- "$1"; }
elif command -v wget >/dev/null; then
  download() { wget -q -O "$2" -- "$1"; }
else
  fail 'cannot download: install curl or wget'
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
name=tool_${version}_${system}_${architecture}
for file in "$name.tar.gz" SHA256SUMS; do
  download "$release/$file" "$work/$file" || fail "cannot download $release/$file"
done
expected=$(awk -v file="$name.tar.gz" '$2 == file || $2 == "*" file { print $1 }' "$work/SHA256SUMS")
actual=$(sum "$work/$name.tar.gz" | cut -d ' ' -f 1)
[ -n "$expected" ] || fail "SHA256SUMS does not list $name.tar.gz"
[ "$expected" = "$actual" ] || fail "the checksum of $name.tar.gz is $actual, not $expected: nothing was installed"

tar -xzf "$work/$name.tar.gz" -C "$work" "$name/tool" || fail "$name.tar.gz has no $name/tool"
mkdir -p "$directory"
# The new program replaces a running one in one step.
cp "$work/$name/tool" "$directory/.tool.$$"
chmod 755 "$directory/.tool.$$"
mv -f "$directory/.tool.$$" "$directory/tool"
echo "Installed tool $version in $directory"
case :$PATH: in
  *:"$directory":*) ;;
  *) echo "Add it to your PATH: export PATH=\"$directory:\$PATH\"" ;;
esac
