"""Paimon's Python libraries behind a line protocol: paimon_shell.py pypaimon|pypaimon-rust WAREHOUSE

Each line of standard input is one SQL statement, with \\n and \\\\ as escapes. The answer is a line "| cells" for each row,
then "OK" or "ERROR message". Cells are printed as the script runner's format has them.

pypaimon reads tables as Arrow; DuckDB answers the query over them. INSERT INTO t VALUES … is computed by DuckDB and written
by pypaimon. pypaimon-rust answers queries itself (DataFusion).
"""
import base64
import datetime
import decimal
import json
import re
import sys

import pyarrow as pa


def plain(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, datetime.datetime):
        if v.tzinfo is not None:
            v = v.astimezone(datetime.timezone.utc)
        return v.strftime("%Y-%m-%d ").rjust(11, "0") + clock(v)
    if isinstance(v, datetime.time):
        return clock(v)
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    return str(v)


def clock(v):
    text = v.strftime("%H:%M:%S")
    return text if v.microsecond == 0 else (text + ".%06d" % v.microsecond).rstrip("0")


def nested(v, t):
    """The value as JSON text: structs and maps are objects, bytes are base64."""
    if v is None:
        return "null"
    if pa.types.is_struct(t):
        return "{" + ", ".join(json.dumps(t.field(i).name) + ": " + nested(v[t.field(i).name], t.field(i).type) for i in range(t.num_fields)) + "}"
    if pa.types.is_map(t):
        items = v.items() if isinstance(v, dict) else v
        return "{" + ", ".join(json.dumps(plain(k)) + ": " + nested(x, t.item_type) for k, x in items) + "}"
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return "[" + ", ".join(nested(x, t.value_type) for x in v) + "]"
    if isinstance(v, bytes):
        return json.dumps(base64.b64encode(v).decode())
    if isinstance(v, (bool, int, float, decimal.Decimal)):
        return plain(v)
    return json.dumps(plain(v), ensure_ascii=False)


def cell(v, t):
    if v is None:
        return "NULL"
    if pa.types.is_nested(t):
        text = nested(v, t)
    elif isinstance(v, bytes):
        text = v.hex().upper()
    else:
        text = plain(v)
    if text == "":
        return "(empty)"
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def print_batches(batches):
    for batch in batches:
        types = [f.type for f in batch.schema]
        for row in zip(*(c.to_pylist() for c in batch.columns)):
            print("| " + "\t".join(cell(v, t) for v, t in zip(row, types)))


class Rust:
    def __init__(self, warehouse):
        from pypaimon_rust.datafusion import SQLContext
        self.context = SQLContext()
        self.context.register_catalog("paimon", {"warehouse": warehouse})

    def run(self, sql):
        print_batches(self.context.sql(sql))


class Python:
    def __init__(self, warehouse):
        import duckdb
        from pypaimon import CatalogFactory
        self.catalog = CatalogFactory.create({"warehouse": warehouse})
        self.duckdb = duckdb.connect()
        self.duckdb.execute("SET TimeZone = 'UTC'")

    def table(self, name):
        return self.catalog.get_table(name if "." in name else "default." + name)

    def run(self, sql):
        insert = re.match(r"(?is)\s*INSERT\s+INTO\s+`?([\w$.]+)`?\s+(VALUES\s.*)$", sql)
        if insert:
            self.insert(*insert.groups())
            return
        for name in re.findall(r"(?i)\b(?:FROM|JOIN)\s+`?([\w$.]+)`?", sql):
            builder = self.table(name).new_read_builder()
            self.duckdb.register(name, builder.new_read().to_arrow(builder.new_scan().plan().splits()))
        print_batches(self.duckdb.sql(sql.replace("`", chr(34))).to_arrow_table().to_batches())

    def insert(self, name, values):
        from pypaimon.schema.data_types import PyarrowFieldParser
        table = self.table(name)
        schema = PyarrowFieldParser.from_paimon_schema(table.table_schema.fields)
        rows = self.duckdb.sql("SELECT * FROM (%s)" % values).to_arrow_table()
        rows = pa.Table.from_arrays([c.cast(f.type) for c, f in zip(rows.columns, schema)], schema=schema)
        builder = table.new_batch_write_builder()
        writer, committer = builder.new_write(), builder.new_commit()
        try:
            writer.write_arrow(rows)
            committer.commit(writer.prepare_commit())
        finally:
            writer.close()
            committer.close()


shell = {"pypaimon": Python, "pypaimon-rust": Rust}[sys.argv[1]](sys.argv[2])
print("READY", flush=True)
for line in sys.stdin:
    sql = line.rstrip("\n").replace("\\\\", "\1").replace("\\n", "\n").replace("\1", "\\")
    try:
        shell.run(sql)
        print("OK", flush=True)
    except BaseException as e:  # a Rust panic is no Exception
        print("ERROR %s: %s" % (type(e).__name__, str(e).replace("\n", " ")[:600]), flush=True)
