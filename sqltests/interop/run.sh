#!/usr/bin/env bash
# Lets real MySQL clients take the tour (tour.slt) on the sample warehouse: run.sh [TRIBUTARY]
#
# TRIBUTARY is the server's binary (default build/tributary). A client that is not installed is skipped with a line that
# says what is missing; with CI=true it is installed first, and failing to do so is an error. Installed packages are kept in
# INTEROP_CACHE (default: tributary-interop in the user's cache folder).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=$(realpath "${1:-$root/build/tributary}")
cache=${INTEROP_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tributary-interop}
tour=$here/tour.slt

pymysql=1.1.2 cryptography=46.0.3 connector_python=9.5.0 connector_j=9.5.0 mysql2=3.15.3

passed=0 failed=0 skipped=0
work=$(mktemp -d)
server=
cleanup() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap cleanup EXIT

have() { command -v "$1" >/dev/null 2>&1; }
ci() { [ "${CI:-}" = true ]; }
skip() { echo "skip: $1: $2"; skipped=$((skipped + 1)); }
# quiet NAME COMMAND…: the output of an installation matters only when it fails
quiet() {
  local name=$1
  shift
  if ! "$@" >"$work/install.log" 2>&1; then
    echo "FAIL: $name could not be installed: $*"
    tail -n 20 "$work/install.log" | sed 's/^/    /'
    failed=$((failed + 1))
    return 1
  fi
}

if [ ! -x "$binary" ]; then
  echo "no server at $binary; build it first: make build" >&2
  exit 1
fi
cd "$root"
go build -o "$work/compare" ./sqltests/interop/compare
go run testdata/golden/unpack.go shop "$work/shop"

# The server, on a free port and with a password.
export TOUR_PASSWORD=tour-password PYTHONDONTWRITEBYTECODE=1
echo "$TOUR_PASSWORD" >"$work/password"
: >"$work/server.out" # so that it is there before the server is
"$binary" serve --warehouse "$work/shop" --listen 127.0.0.1:0 --user tour --password-file "$work/password" \
  --time-zone UTC >"$work/server.out" 2>"$work/server.err" &
server=$!
port=
for _ in $(seq 300); do
  port=$(sed -n 's/^tributary: ready on [^ ]*:\([0-9]*\).*/\1/p' "$work/server.out")
  [ -n "$port" ] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$port" ]; then
  echo "the server did not start:"
  sed 's/^/    /' "$work/server.err"
  exit 1
fi

# client NAME COMMAND…: runs a program of clients/ and compares what it prints
client() {
  local name=$1 status=0
  shift
  timeout 300 "$@" >"$work/out" 2>"$work/err" || status=$?
  if [ "$status" -ne 0 ]; then
    echo "FAIL: $name: exit code $status"
    tail -n 20 "$work/err" | sed 's/^/    /'
  elif ! "$work/compare" "$tour" "$work/out" >"$work/report" 2>&1; then
    echo "FAIL: $name"
    sed 's/^/    /' "$work/report"
  else
    echo "ok: $name: $(tail -n 1 "$work/report")"
    passed=$((passed + 1))
    return
  fi
  failed=$((failed + 1))
}
at=(127.0.0.1 "$port" tour "$tour")

# go-sql-driver, through the script runner, in both protocols
for protocol in text binary; do
  if "$binary" test "$tour" --address "127.0.0.1:$port" --user tour --password-file "$work/password" --protocol "$protocol" >"$work/report" 2>&1; then
    echo "ok: go-sql-driver $protocol: $(tail -n 1 "$work/report" | sed 's/.*: //')"
    passed=$((passed + 1))
  else
    echo "FAIL: go-sql-driver $protocol"
    sed 's/^/    /' "$work/report"
    failed=$((failed + 1))
  fi
done

# the mysql command line client
run_mysql() {
  if ! have mysql; then
    if ! ci || ! have apt-get; then skip mysql "no mysql command (Debian: mariadb-client)"; return; fi
    quiet mysql apt-get update -qq || return 0
    quiet mysql env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mariadb-client || return 0
  fi
  client "mysql" bash "$here/clients/mysql_tour.sh" "${at[@]}"
}

# the Python drivers, in a virtual environment
run_python() {
  local venv=$cache/python
  if ! have python3; then
    skip PyMySQL "no python3"
    skip mysql-connector-python "no python3"
    return
  fi
  if ! "$venv/bin/python" -c 'import pymysql, mysql.connector, cryptography' 2>/dev/null; then
    if ! ci; then
      skip PyMySQL "not in $venv (python3 -m venv, pip install pymysql cryptography)"
      skip mysql-connector-python "not in $venv (pip install mysql-connector-python)"
      return
    fi
    mkdir -p "$cache"
    quiet "Python drivers" python3 -m venv "$venv" || return 0
    quiet "Python drivers" "$venv/bin/pip" install -q "pymysql==$pymysql" "cryptography==$cryptography" "mysql-connector-python==$connector_python" || return 0
  fi
  client "PyMySQL" "$venv/bin/python" "$here/clients/pymysql_tour.py" "${at[@]}"
  client "mysql-connector-python" "$venv/bin/python" "$here/clients/connector_tour.py" "${at[@]}"
  client "mysql-connector-python prepared" "$venv/bin/python" "$here/clients/connector_tour.py" "${at[@]}" prepared
  if ! "$venv/bin/python" -c 'import _mysql_connector' 2>/dev/null; then
    skip "mysql-connector-python C" "the C extension does not load here"
    return
  fi
  client "mysql-connector-python C" "$venv/bin/python" "$here/clients/connector_tour.py" "${at[@]}" c
  client "mysql-connector-python C prepared" "$venv/bin/python" "$here/clients/connector_tour.py" "${at[@]}" prepared c
}

# Connector/J
run_java() {
  local dir=$cache/java jar
  jar=$dir/mysql-connector-j-$connector_j.jar
  if ! have javac || ! have java; then skip Connector/J "no JDK (java, javac)"; return; fi
  if [ ! -f "$jar" ]; then
    if ! ci; then skip Connector/J "no $jar"; return; fi
    if ! have mvn; then skip Connector/J "no mvn to fetch the driver with"; return; fi
    mkdir -p "$dir"
    quiet Connector/J mvn -q -B dependency:copy -Dartifact="com.mysql:mysql-connector-j:$connector_j" -DoutputDirectory="$dir" || return 0
  fi
  quiet Connector/J javac -d "$work/classes" "$here/clients/Tour.java" || return 0
  client "Connector/J" java -cp "$work/classes:$jar" Tour "${at[@]}"
  client "Connector/J prepared" java -cp "$work/classes:$jar" Tour "${at[@]}" prepared
}

# Node's mysql2
run_node() {
  local dir=$cache/node
  if ! have node; then skip mysql2 "no node"; return; fi
  if [ ! -d "$dir/node_modules/mysql2" ]; then
    if ! ci; then skip mysql2 "not in $dir (npm install mysql2)"; return; fi
    if ! have npm; then skip mysql2 "no npm to fetch the driver with"; return; fi
    mkdir -p "$dir"
    quiet mysql2 npm install --prefix "$dir" --no-audit --no-fund "mysql2@$mysql2" || return 0
  fi
  export TOUR_NODE_HOME=$dir
  client "mysql2" node "$here/clients/mysql2_tour.mjs" "${at[@]}"
  client "mysql2 prepared" node "$here/clients/mysql2_tour.mjs" "${at[@]}" prepared
}

run_mysql
run_python
run_java
run_node

# The server has to end by itself when asked to.
kill -TERM "$server"
status=0
wait "$server" || status=$?
server=
if [ "$status" -ne 0 ]; then
  echo "FAIL: the server ended with exit code $status"
  sed 's/^/    /' "$work/server.err"
  failed=$((failed + 1))
fi

echo "interop: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
