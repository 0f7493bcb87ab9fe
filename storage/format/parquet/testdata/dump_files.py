"""Prints the rows of Parquet files as pyarrow reads them, one line a row, in the form of text() in helpers_test.go.

usage: dump_files.py FOLDER FILE... (files relative to FOLDER)
"""
import decimal
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq

decimal.getcontext().prec = 60


def conv(t):
    if pa.types.is_boolean(t):
        return lambda x: str(int(x.as_py()))
    if pa.types.is_integer(t):
        return lambda x: str(x.as_py())
    if pa.types.is_float32(t):
        return lambda x: "f%08x" % struct.unpack("<I", struct.pack("<f", x.as_py()))[0]
    if pa.types.is_float64(t):
        return lambda x: "d%016x" % struct.unpack("<Q", struct.pack("<d", x.as_py()))[0]
    if pa.types.is_decimal(t):
        return lambda x: str(int(x.as_py().scaleb(t.scale)))
    if pa.types.is_date(t):
        return lambda x: str(x.value)
    if pa.types.is_time(t):
        unit = {"ms": 1, "us": 1000, "ns": 1000000}[t.unit]
        return lambda x: str(x.value // unit)
    if pa.types.is_timestamp(t):
        unit = {"ms": 10 ** 6, "us": 1000, "ns": 1}[t.unit]
        return lambda x: "t%d.%d" % divmod(x.value * unit, 1000)
    if pa.types.is_string(t):
        return lambda x: "'" + x.as_py().encode().hex()
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return lambda x: "'" + x.as_py().hex()
    if pa.types.is_map(t):
        k, v = value(t.key_type), value(t.item_type)
        return lambda x: "{" + ",".join(k(e["key"]) + ":" + v(e["value"]) for e in x.values) + "}"
    if pa.types.is_list(t):
        e = value(t.value_type)
        return lambda x: "[" + ",".join(e(y) for y in x.values) + "]"
    if pa.types.is_struct(t):
        fields = [value(t.field(i).type) for i in range(t.num_fields)]
        return lambda x: "(" + ",".join(f(x[i]) for i, f in enumerate(fields)) + ")"
    raise ValueError(str(t))


def value(t):
    c = conv(t)
    return lambda x: c(x) if x.is_valid else "N"


for name in sys.argv[2:]:
    print("# " + name)
    try:
        table = pq.ParquetFile(sys.argv[1] + "/" + name, coerce_int96_timestamp_unit="ns").read()
    except pa.ArrowInvalid as e:  # old Paimon releases wrote optional map keys, which pyarrow refuses
        print("! " + str(e))
        continue
    cols = []
    for i in range(table.num_columns):
        f = value(table.schema.field(i).type)
        cols.append([f(x) for x in table.column(i)])
    for r in range(table.num_rows):
        print("|".join(c[r] for c in cols))
