#!/usr/bin/env bash
# The tour in the mysql command line client: mysql_tour.sh HOST PORT USER TOUR, password in TOUR_PASSWORD.
set -euo pipefail
host=$1 port=$2 user=$3 tour=$4

export MYSQL_PWD=$TOUR_PASSWORD
# One session; the client prints a line "== n" before the answer of the n-th query. --comments keeps hints.
awk '/^query / { n++; getline; printf "SELECT \047== %d\047;\n%s;\n", n, $0 }' "$tour" |
  mysql --no-defaults --protocol=tcp --host="$host" --port="$port" --user="$user" --default-character-set=utf8mb4 \
    --comments --binary-as-hex --batch --skip-column-names --database=default
