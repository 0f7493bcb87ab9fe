"""Answers SQL over standard input with DuckDB: duckdb_peer.py THREADS

One JSON object per line, in and out: {"sql": ...} gives {"seconds": ..., "rows": [[text, ...], ...]} or {"error": ...}.
The time is that of the query and of fetching its rows.
"""
import json
import sys
import time

import duckdb

connection = duckdb.connect()
connection.execute("SET threads = %d" % int(sys.argv[1]))
connection.execute("SET enable_progress_bar = false")
print(json.dumps({"version": duckdb.__version__}), flush=True)
for line in sys.stdin:
    try:
        start = time.perf_counter()
        rows = connection.execute(json.loads(line)["sql"]).fetchall()
        seconds = time.perf_counter() - start
        answer = {"seconds": seconds, "rows": [[str(v) for v in row] for row in rows]}
    except Exception as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
