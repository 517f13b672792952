#!/usr/bin/env bash
# Brings a Debian 12 machine to the state in which Frazil builds: the packages of packages.txt and the
# pinned wasmtime library in .cache/wasmtime. Installs only what is missing, and takes a few hundredths of
# a second when nothing is. Every failure is one sentence on stderr and exit code 4 (environment).
#
#   SKIP_SETUP=1       trust the machine as it is
#   FRAZIL_MIN_FREE_MB free disk space asked for before anything is installed (default 3000)
set -euo pipefail
cd "$(dirname "$0")/.."

packages_file=scripts/packages.txt
cache=${FRAZIL_CACHE_DIR:-.cache}
log=$cache/setup.log
wasmtime_version=50.0.1
wasmtime_sha256=cc14c3a17654e0394e0225b11813532ef0cd7bd1e222a0c5494cdedaabeddac4
wasmtime_dir=$cache/wasmtime

say() { echo "setup: $*"; }
fail() {
  echo "setup: $*" >&2
  exit 4
}

missing_packages() {
  local wanted=() installed name command
  while read -r name command; do
    if [[ -z $name || $name == \#* ]]; then continue; fi
    if [[ -n $command ]] && command -v "$command" >/dev/null; then continue; fi
    wanted+=("$name")
  done <"$packages_file"
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for name in "${wanted[@]}"; do
    if ! grep -qx "installed $name" <<<"$installed"; then echo "$name"; fi
  done
}

need_free_space() {
  local need=${FRAZIL_MIN_FREE_MB:-3000} folder free
  for folder in "$@"; do
    free=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
    if ((free < need)); then
      fail "there is too little disk space: $free MB are free where $need MB are needed, on the disk of $folder."
    fi
  done
}

# Turns apt's long output into a line every five percent; the whole of it is in the log. A package counts
# three times: downloaded, unpacked, set up.
apt_progress() {
  awk -v log_file="$log" '
    { print >> log_file; fflush(log_file) }
    /^Need to get/ { print "setup: downloading " $4 " " $5; fflush() }
    /newly installed/ { total = 3 * ($1 + $3) }
    /^(Get:|Unpacking |Setting up )/ && total > 0 {
      percent = int(100 * ++done / total)
      if (percent >= shown + 5 && percent <= 100) {
        shown = percent - percent % 5
        printf "setup: %3d %% %s\n", shown, ($1 == "Setting" ? $3 : $1 == "Unpacking" ? $2 : $5)
        fflush()
      }
    }'
}

run_apt() { # arguments: what apt-get gets
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 -o Acquire::Retries=2 "$@" \
    </dev/null 2>&1 | apt_progress
}

apt_failure() { # one sentence for what the log says
  if grep -qiE 'no space left|enough free space' "$log"; then
    fail "the disk became full while packages were installed; free some space and run the command again."
  elif grep -qiE 'could not get lock|lock-frontend' "$log"; then
    fail "another program is installing packages at the moment; run the command again when it has finished."
  elif grep -qiE 'failed to fetch|could not resolve|temporary failure|unable to connect|connection (failed|timed|refused)' "$log"; then
    fail "no network: apt-get could not reach the package servers of this machine; connect it and run the command again (details: $log)."
  elif grep -qiE 'unable to locate package|no installation candidate' "$log"; then
    fail "this machine's package servers do not have: $*; Frazil needs Debian 12 with its security updates (details: $log)."
  fi
  fail "apt-get could not install: $* (details: $log)."
}

install_packages() {
  local packages=("$@")
  command -v apt-get >/dev/null ||
    fail "this machine has no apt-get; install what scripts/packages.txt lists by hand, then run with SKIP_SETUP=1."
  sudo=
  if (($(id -u) != 0)); then
    command -v sudo >/dev/null ||
      fail "installing packages needs root or sudo; as root, run: apt-get install ${packages[*]}"
    # With a terminal sudo may ask for a password; without one it must not.
    if [[ -t 0 ]]; then sudo=sudo; else sudo="sudo -n"; fi
    $sudo true 2>/dev/null || fail "sudo refused; as root, run: apt-get install ${packages[*]}"
  fi
  need_free_space /usr .
  say "installing what is missing (${#packages[@]} packages): ${packages[*]}"
  : >"$log"
  # Package lists may be absent (fresh machine) or stale (files gone from the server): refresh, then retry.
  if ! run_apt install -y --no-install-recommends "${packages[@]}"; then
    say "refreshing the package lists"
    : >"$log"
    run_apt update || apt_failure "${packages[@]}"
    run_apt install -y --no-install-recommends "${packages[@]}" || apt_failure "${packages[@]}"
  fi
}

# The first Python that has pip: a machine may have one of its own before Debian's.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
  fail "no Python with pip was found; install the package python3-pip."
}

fetch_wasmtime() {
  local python wheel
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    fail "the pinned wasmtime library is for Linux on x86-64, this machine is $(uname -sm); set FRAZIL_WASMTIME to a library of your own and run with SKIP_SETUP=1."
  need_free_space .
  python=$(python_with_pip)
  mkdir -p "$wasmtime_dir"
  wheel=$(echo "$wasmtime_dir"/wasmtime-"$wasmtime_version"-*x86_64.whl)
  if [[ ! -f $wheel ]]; then
    say "downloading wasmtime $wasmtime_version (10 MB)"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      -d "$wasmtime_dir" "wasmtime==$wasmtime_version" >"$log" 2>&1 ||
      fail "wasmtime $wasmtime_version could not be downloaded with pip: is there a network? (details: $log)"
    wheel=$(echo "$wasmtime_dir"/wasmtime-"$wasmtime_version"-*x86_64.whl)
  fi
  if ! echo "$wasmtime_sha256  $wheel" | sha256sum --check --status; then
    rm -f "$wheel"
    fail "the downloaded wasmtime $wasmtime_version is not the pinned file (its SHA-256 differs); it was removed."
  fi
  # Unpacked beside its final name, then renamed: an interrupted run never leaves half a library.
  "$python" - "$wheel" "$wasmtime_dir/libwasmtime.so.part" <<'PYTHON' || fail "the wasmtime library could not be unpacked into $wasmtime_dir."
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, open(sys.argv[2], "wb") as out:
    shutil.copyfileobj(wheel.open("wasmtime/linux-x86_64/_libwasmtime.so"), out)
PYTHON
  chmod 755 "$wasmtime_dir/libwasmtime.so.part"
  mv "$wasmtime_dir/libwasmtime.so.part" "$wasmtime_dir/libwasmtime.so"
  echo "$wasmtime_version" >"$wasmtime_dir/VERSION"
  rm -f "$wheel"
}

if [[ ${SKIP_SETUP:-} == 1 ]]; then exit 0; fi
mkdir -p "$cache" 2>/dev/null || fail "the folder $cache cannot be written."

command -v dpkg-query >/dev/null ||
  fail "this machine is not Debian; install what scripts/packages.txt lists by hand, then run with SKIP_SETUP=1."
mapfile -t missing < <(missing_packages)
if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi

if [[ ! -f $wasmtime_dir/libwasmtime.so || $(cat "$wasmtime_dir/VERSION" 2>/dev/null) != "$wasmtime_version" ]]; then
  fetch_wasmtime
fi

# Only the real Triton VM (tools/oracle) is written in Rust; without it nothing can be proved, and all else works.
# Tried once: a machine that has no Rust to offer is not asked at every build (remove the file to ask again).
rust_packages=(cargo-web rustc-web)
have_rust() {
  command -v cargo >/dev/null || [[ -x ${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo ]] ||
    [[ $(dpkg-query -W -f='${db:Status-Status}' cargo-web 2>/dev/null || true) == installed* ]]
}
if [[ ! -f $cache/no-rust ]] && ! have_rust; then
  if ! reason=$(install_packages "${rust_packages[@]}" 2>&1 >/dev/null); then
    echo "$reason" >"$cache/no-rust"
    say "Rust is missing, so proofs and the tests against the real Triton VM are left out (why: $cache/no-rust)."
  fi
fi
if [[ ! -d build ]]; then need_free_space .; fi
