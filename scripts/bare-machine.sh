#!/usr/bin/env bash
# The README's commands on a bare Debian 12: a new root folder with nothing in it but git, make and certificates, this
# project's HEAD cloned into it, and the command run there. What somebody once installed by hand here is not there.
#
#   bare-machine.sh [--keep] [COMMAND]      default: make demo && make test (45 minutes on 2 cores)
#   BARE=folder                             uses that root, makes it if it is missing, and leaves it there
#
# Needs root, for chroot and mounts, and the package debootstrap, which is installed if missing. Packages come from where
# this machine's apt gets them; its proxies, certificates and settings for pip, cargo and npm are carried over. The mounts
# are in a namespace of this script's own, so that they are gone with it, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "bare: $*"; }
fail() {
  echo "bare: $*" >&2
  exit 4
}

(($(id -u) == 0)) || fail "a new root folder needs root; run it as root (or with sudo)."
if [[ ${BARE_MOUNTS:-} != own ]]; then BARE_MOUNTS=own exec unshare --mount -- scripts/bare-machine.sh "$@"; fi

keep=0
if [[ ${1:-} == --keep ]]; then
  keep=1
  shift
fi
command=${*:-make demo && make test}
project=$PWD

mirror() { # the first server of this machine's apt that is not one for security updates
  {
    sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/*.sources || true
    sed -n 's/^deb .*\(https\?:[^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list || true
  } 2>/dev/null | awk '!/security/ { print $1; exit }'
}

install_debootstrap() {
  command -v debootstrap >/dev/null && return
  say "installing debootstrap"
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >/dev/null 2>&1 ||
    fail "the package debootstrap is missing and could not be installed."
}

make_root() {
  local server
  server=$(mirror)
  [[ -n $server ]] || fail "this machine's apt names no package server in /etc/apt."
  install_debootstrap
  say "making a bare Debian 12 in $root (a minute or two)"
  if ! debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" "$server" >"$root.log" 2>&1; then
    tail -5 "$root.log" >&2
    fail "debootstrap failed (the reason stands above)."
  fi
  chmod 755 "$root" # as / is; mktemp made it for root alone, and a test becomes somebody else
}

copy() { # copy PATH...: the same path in the root, where it exists here
  local path
  for path in "$@"; do
    [[ -e $path ]] || continue
    mkdir -p "$root/$(dirname "$path")"
    cp -aHT "$path" "$root/$path"
  done
}

carry_settings() { # how this machine reaches its networks; nothing that a build could use
  local file
  rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
  copy /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/trusted.gpg.d /etc/apt/keyrings \
    /usr/share/keyrings /usr/local/share/ca-certificates /etc/ssl/certs /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/npmrc
  for file in .cargo/config.toml .config/pip/pip.conf .npmrc .config/go/env; do
    if [[ -f $HOME/$file ]]; then install -D "$HOME/$file" "$root/root/$file"; fi
  done
}

mount_system() {
  mount -t proc proc "$root/proc" || mount --bind /proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mkdir -p "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount --bind /dev/pts "$root/dev/pts"
}

finish() {
  local folder
  for folder in dev/pts dev/shm sys proc; do umount -l "$root/$folder" 2>/dev/null || true; done
  if ((keep)); then
    say "kept at $root"
  else
    rm -rf --one-file-system "$root" "$root.log"
  fi
}

if [[ -n ${BARE:-} ]]; then
  root=$BARE
  keep=1
  mkdir -p "$root"
else
  root=$(mktemp -d -t bare.XXXXXX)
fi
trap finish EXIT
if [[ ! -x $root/usr/bin/git ]]; then make_root; fi
carry_settings
mount_system
rm -rf "$root/srv/frazil"
git clone --quiet "file://$project" "$root/srv/frazil"

settings=()
while IFS= read -r name; do settings+=("$name=${!name}"); done < <(compgen -e |
  grep -E '_(proxy|PROXY)$|^(PIP_|CARGO_(NET|HTTP|REGISTR)|NPM_CONFIG_|npm_config_|GO(PROXY|FLAGS|NOSUMDB|SUMDB)$|JOBS$)|^(SSL_CERT_FILE|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|CURL_CA_BUNDLE|GIT_SSL_CAINFO)$' || true)
say "\$ $command"
start=$SECONDS
code=0
env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 \
  "${settings[@]}" chroot "$root" bash -c "cd /srv/frazil && $command" || code=$?
say "exit code $code after $(((SECONDS - start) / 60)) min $(((SECONDS - start) % 60)) s"
exit "$code"
