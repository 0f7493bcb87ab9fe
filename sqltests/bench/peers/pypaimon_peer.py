"""Writes tables over standard input with pypaimon: pypaimon_peer.py THREADS WAREHOUSE DATABASE

One JSON object per line, in and out: {"sql": "INSERT INTO t SELECT * FROM s"} gives {"seconds": ..., "rows": []} or
{"error": ...}. The source is read as Arrow batches, and these are written and committed; the time is that of both.
"""
import importlib.metadata
import json
import re
import sys
import time

import pyarrow as pa

pa.set_cpu_count(int(sys.argv[1]))
pa.set_io_thread_count(int(sys.argv[1]))
from pypaimon import CatalogFactory  # noqa: E402 (after the number of threads is set)

catalog = CatalogFactory.create({"warehouse": sys.argv[2]})


def insert(target, source):
    read = catalog.get_table("%s.%s" % (sys.argv[3], source)).new_read_builder()
    reader = read.new_read().to_arrow_batch_reader(read.new_scan().plan().splits())
    builder = catalog.get_table("%s.%s" % (sys.argv[3], target)).new_batch_write_builder()
    writer, committer = builder.new_write(), builder.new_commit()
    try:
        for batch in reader:
            writer.write_arrow_batch(batch)
        committer.commit(writer.prepare_commit())
    finally:
        writer.close()
        committer.close()


print(json.dumps({"version": importlib.metadata.version("pypaimon")}), flush=True)
for line in sys.stdin:
    try:
        match = re.fullmatch(r"INSERT INTO (\w+) SELECT \* FROM (\w+)", json.loads(line)["sql"])
        if match is None:
            raise ValueError("only INSERT INTO t SELECT * FROM s is known")
        start = time.perf_counter()
        insert(*match.groups())
        answer = {"seconds": time.perf_counter() - start, "rows": []}
    except Exception as error:
        answer = {"error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(answer), flush=True)
