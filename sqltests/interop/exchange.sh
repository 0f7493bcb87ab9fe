#!/usr/bin/env bash
# Lets Tributary, Apache Paimon on Flink, pypaimon and pypaimon-rust write and read the same tables in turn, and DuckDB and pyarrow
# read the data files: exchange.sh [TRIBUTARY [SCRIPT…]]
#
# As run.sh, it skips what is not installed with a line that says what is missing; with CI=true it is installed first, and
# failing to do so is an error. See exchange/doc.go for the scripts; "-" is none. With INTEROP_ROUNDS=8 Tributary and Apache Paimon then
# write and compact the same tables in turn for 8 rounds, and with INTEROP_TOGETHER=20s two servers and Paimon write the same tables at once
# for that long: make interop-writers.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=$(realpath "${1:-$root/build/tributary}")
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tributary-interop}

paimon=2.0.0 pypaimon=2.1.0 pypaimon_rust=0.4.0 duckdb=1.5.6

work=$(mktemp -d)
servers=()
cleanup() {
  for s in "${servers[@]}"; do kill "$s" 2>/dev/null || true; wait "$s" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT

have() { command -v "$1" >/dev/null 2>&1; }
ci() { [ "${CI:-}" = true ]; }
# quiet NAME COMMAND…: the output of an installation matters only when it fails
quiet() {
  local name=$1
  shift
  if ! "$@" >"$work/install.log" 2>&1; then
    echo "FAIL: $name could not be installed: $*"
    tail -n 20 "$work/install.log" | sed 's/^/    /'
    exit 1
  fi
}

engines=()
warehouse=$work/warehouse
mkdir "$warehouse"

# Apache Paimon on Flink: packages from Maven, found once and kept as a class path
dir=$cache/paimon
if ! have javac || ! have java; then
  echo "skip: Apache Paimon: no JDK (java, javac)"
elif [ ! -s "$dir/classpath" ] && ! ci; then
  echo "skip: Apache Paimon: no $dir/classpath (run with CI=true to fetch it with mvn)"
elif [ ! -s "$dir/classpath" ] && ! have mvn; then
  echo "skip: Apache Paimon: no mvn to fetch it with"
else
  if [ ! -s "$dir/classpath" ]; then
    mkdir -p "$dir"
    cp "$here/exchange/pom.xml" "$dir/pom.xml"
    quiet "Apache Paimon" mvn -q -B dependency:copy -Dartifact="org.apache.paimon:paimon-flink-2.0:$paimon" -DoutputDirectory="$dir" -Dmdep.stripVersion=false
    quiet "Apache Paimon" mvn -q -B -f "$dir/pom.xml" dependency:build-classpath -Dmdep.outputFile="$dir/classpath.new"
    echo "$dir/paimon-flink-2.0-$paimon.jar:$(cat "$dir/classpath.new")" >"$dir/classpath"
  fi
  quiet "Apache Paimon" javac -nowarn -d "$work/classes" -cp "$(cat "$dir/classpath")" "$here/exchange/PaimonShell.java"
  opens="--add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED --add-opens=java.base/java.time=ALL-UNNAMED"
  engines+=(-engine "paimon=java -Xmx1500m -Duser.timezone=UTC $opens -cp $work/classes:$(cat "$dir/classpath") PaimonShell $warehouse")
fi

# pypaimon and pypaimon-rust, in a virtual environment
venv=$cache/paimon-python
if ! have python3; then
  echo "skip: pypaimon: no python3"
elif ! "$venv/bin/python" -c 'import pypaimon, pypaimon_rust, duckdb' 2>/dev/null && ! ci; then
  echo "skip: pypaimon: not in $venv (pip install pypaimon pypaimon-rust duckdb)"
else
  if ! "$venv/bin/python" -c 'import pypaimon, pypaimon_rust, duckdb' 2>/dev/null; then
    mkdir -p "$cache"
    quiet pypaimon python3 -m venv "$venv"
    quiet pypaimon "$venv/bin/pip" install -q "pypaimon==$pypaimon" "pypaimon-rust==$pypaimon_rust" "duckdb==$duckdb"
  fi
  for engine in pypaimon pypaimon-rust duckdb pyarrow; do
    engines+=(-engine "$engine=$venv/bin/python $here/exchange/paimon_shell.py $engine $warehouse")
  done
fi
if [ "${#engines[@]}" -eq 0 ]; then exit 0; fi

scripts=("${@:2}")
rounds=${INTEROP_ROUNDS:-0} together=${INTEROP_TOGETHER:-0}
if [ "${#scripts[@]}" -eq 0 ]; then scripts=("$here"/exchange/scripts/*.slt); fi
if [ "${scripts[0]}" = - ]; then scripts=(); fi

cd "$root"
go build -o "$work/exchange" ./sqltests/interop/exchange
export PYTHONDONTWRITEBYTECODE=1
echo exchange-password >"$work/password"
# start NAME: starts a server of the warehouse; its port is in $port then
start() {
  : >"$work/$1.out" # so that it is there before the server is
  "$binary" serve --warehouse "$warehouse" --listen 127.0.0.1:0 --user exchange --password-file "$work/password" --time-zone UTC \
    >"$work/$1.out" 2>"$work/$1.err" &
  local server=$!
  servers+=("$server")
  port=
  for _ in $(seq 300); do
    port=$(sed -n 's/^tributary: ready on [^ ]*:\([0-9]*\).*/\1/p' "$work/$1.out")
    [ -n "$port" ] && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  if [ -z "$port" ]; then
    echo "the server did not start:"
    sed 's/^/    /' "$work/$1.err"
    exit 1
  fi
}
turns=(-rounds "$rounds")
if [ "$together" != 0 ]; then
  start second
  turns+=(-second-server "127.0.0.1:$port" -together "$together")
fi
start server
status=0
"$work/exchange" -server "127.0.0.1:$port" "${turns[@]}" -user exchange -password-file "$work/password" "${engines[@]}" "${scripts[@]}" 2>"$work/engines.err" || status=$?
if [ "$status" -ne 0 ]; then tail -n 40 "$work/engines.err" | cut -c1-300 | sed 's/^/    /'; fi
exit "$status"
