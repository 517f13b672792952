#!/usr/bin/env bash
# Against a real bazel-remote, as it is by default (it reads what is put under /ac/ as an ActionResult and checks that
# the content it names is there) and with --disable_http_ac_validation (it keeps bytes).
#
#   bazel_remote_test.sh CLIENT CACHE_FOLDER      exit 77: skipped, with the reason
#
# `go install module@version` asks the proxy for the list of versions, which not every proxy has; downloading the
# pinned version and building it in place needs that version alone, and its go.sum pins everything it uses.
set -uo pipefail
client=$1
cache=$2
module=github.com/buchgr/bazel-remote/v2
version=v2.6.1
server=$cache/bazel-remote-$version

skip() {
  echo "[SKIP] $*"
  exit 77
}

build_server() {
  local go source
  go=$(command -v go || echo /usr/local/go/bin/go)
  [[ -x $go ]] || skip "Go is not installed, so there is no bazel-remote to test against"
  mkdir -p "$cache"
  echo "building bazel-remote $version"
  GOFLAGS=-mod=mod "$go" mod download -json "$module@$version" >"$cache/download.json" 2>"$cache/download.log" ||
    skip "the Go module $module@$version is not reachable (details: $cache/download.log)"
  source=$(sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p' "$cache/download.json")
  (cd "$source" && GOFLAGS=-buildvcs=false "$go" build -o "$server.part" .) >"$cache/build.log" 2>&1 ||
    skip "bazel-remote $version could not be built; are its modules reachable? (details: $cache/build.log)"
  mv "$server.part" "$server"
}

scratch=$(mktemp -d)
pid=
stop_server() {
  if [[ -n $pid ]]; then
    kill "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    pid=
  fi
}
trap 'stop_server; rm -rf "$scratch"' EXIT

# A port that was free a moment ago; somebody may take it first, so it is tried several times.
start_server() { # start_server NAME FLAGS...
  local name=$1 attempt port
  shift
  for attempt in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 20000))
    "$server" --dir "$scratch/$name" --max_size 1 --http_address "127.0.0.1:$port" --grpc_address none \
      "$@" >"$scratch/$name.log" 2>&1 &
    pid=$!
    for _ in $(seq 100); do
      if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && kill -0 "$pid" 2>/dev/null; then
        address=http://127.0.0.1:$port
        return 0
      fi
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    stop_server
  done
  cat "$scratch/$name.log"
  return 1
}

[[ -x $server ]] || build_server
failed=0
for mode in validated raw; do
  flags=()
  if [[ $mode == raw ]]; then flags=(--disable_http_ac_validation); fi
  start_server "$mode" ${flags[@]+"${flags[@]}"} || { echo "bazel-remote does not start"; exit 1; }
  echo "$mode:"
  if ! "$client" "$address"; then
    failed=1
    tail -5 "$scratch/$mode.log"
  fi
  stop_server
done
exit $failed
