"""Answers SQL over standard input with pypaimon-rust (Paimon's Rust library in DataFusion): paimon_peer.py THREADS WAREHOUSE

One JSON object per line, in and out: {"sql": ...} gives {"seconds": ..., "rows": [[text, ...], ...]} or {"error": ...}.
The time is that of the query and of fetching its Arrow batches. The warehouse is the catalog "paimon".
"""
import importlib.metadata
import json
import os
import sys
import time

os.environ["TOKIO_WORKER_THREADS"] = str(int(sys.argv[1]))
from pypaimon_rust.datafusion import SQLContext  # noqa: E402 (reads the environment)

context = SQLContext()
context.register_catalog("paimon", {"warehouse": sys.argv[2]})
context.sql("SET datafusion.execution.target_partitions = %d" % int(sys.argv[1]))
print(json.dumps({"version": importlib.metadata.version("pypaimon-rust")}), flush=True)
for line in sys.stdin:
    try:
        start = time.perf_counter()
        batches = context.sql(json.loads(line)["sql"])
        seconds = time.perf_counter() - start
        rows = [row for batch in batches for row in zip(*(column.to_pylist() for column in batch.columns))]
        answer = {"seconds": seconds, "rows": [[str(v) for v in row] for row in rows]}
    except BaseException as error:  # a Rust panic is no Exception
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
