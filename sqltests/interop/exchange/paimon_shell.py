"""Paimon's Python libraries, and readers of its data files, behind a line protocol: paimon_shell.py pypaimon|pypaimon-rust|duckdb|pyarrow WAREHOUSE

Each line of standard input is one SQL statement, with \\n and \\\\ as escapes. The answer is a line "| cells" for each row,
then "OK" or "ERROR message". Cells are printed as the script runner's format has them.

pypaimon reads tables as Arrow, with the options of a hint /*+ OPTIONS('k' = 'v') */; DuckDB answers the query over them.
INSERT INTO t VALUES … is computed by DuckDB and written by pypaimon. pypaimon-rust answers queries itself (DataFusion).
duckdb and pyarrow know nothing of Paimon: they read every data file below an append table's directory.
"""
import base64
import datetime
import decimal
import glob
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


NAME = r"(?:`[^`]+`|[\w$]+)(?:\.(?:`[^`]+`|[\w$]+))?"
HINT = r"\s*/\*\+\s*OPTIONS\s*\(([^)]*)\)\s*\*/"


class Duck:
    """Answers queries with DuckDB; load gives what stands for a table."""

    def __init__(self, warehouse):
        import duckdb
        self.warehouse = warehouse
        self.duckdb = duckdb.connect()
        self.duckdb.execute("SET TimeZone = 'UTC'")

    def run(self, sql):
        tables = []

        def named(match):
            tables.append(self.load(full(match.group(2)), dict(re.findall(r"'([^']*)'\s*=\s*'([^']*)'", match.group(3) or ""))))
            self.duckdb.register("input_%d" % len(tables), tables[-1])
            return "%s input_%d" % (match.group(1), len(tables))

        query = re.sub(r"(?i)\b(FROM|JOIN)\s+(%s)(?:%s)?" % (NAME, HINT), named, sql)
        print_batches(self.duckdb.sql(query.replace("`", chr(34))).to_arrow_table().to_batches())


def full(name):
    """The table's name with its database, without quotes."""
    parts = [x.strip("`") for x in re.findall(r"`[^`]+`|[\w$]+", name)]
    return tuple(parts) if len(parts) == 2 else ("default", parts[0])


class Python(Duck):
    def __init__(self, warehouse):
        super().__init__(warehouse)
        from pypaimon import CatalogFactory
        self.catalog = CatalogFactory.create({"warehouse": warehouse})

    def table(self, name, options=None):
        table = self.catalog.get_table(".".join(name))
        return table.copy(options) if options else table

    def load(self, name, options):
        builder = self.table(name, options).new_read_builder()
        return builder.new_read().to_arrow(builder.new_scan().plan().splits())

    def run(self, sql):
        insert = re.match(r"(?is)\s*INSERT\s+INTO\s+(%s)\s+(VALUES\s.*)$" % NAME, sql)
        if insert:
            self.insert(full(insert.group(1)), insert.group(2))
        else:
            super().run(sql)

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


class Files(Duck):
    def files(self, name):
        found = sorted(glob.glob("%s/%s.db/%s/**/bucket-*/data-*" % (self.warehouse, *map(glob.escape, name)), recursive=True))
        found = [f for f in found if not f.endswith(".index")]
        if not found:
            raise ValueError("table %s.%s has no data files" % name)
        return found


class DuckFiles(Files):
    def load(self, name, options):
        return self.duckdb.read_parquet(self.files(name))


class ArrowFiles(Files):
    def load(self, name, options):
        import pyarrow.dataset
        files = self.files(name)
        return pyarrow.dataset.dataset(files, format=files[0].rsplit(".", 1)[1]).to_table()


shell = {"pypaimon": Python, "pypaimon-rust": Rust, "duckdb": DuckFiles, "pyarrow": ArrowFiles}[sys.argv[1]](sys.argv[2])
print("READY", flush=True)
for line in sys.stdin:
    sql = line.rstrip("\n").replace("\\\\", "\1").replace("\\n", "\n").replace("\1", "\\")
    try:
        shell.run(sql)
        print("OK", flush=True)
    except BaseException as e:  # a Rust panic is no Exception
        print("ERROR %s: %s" % (type(e).__name__, str(e).replace("\n", " ")[:600]), flush=True)
