"""Writes the pyarrow_*.parquet files of this folder, with pyarrow 26.0.1."""
import datetime as dt
import decimal
import random

import pyarrow as pa
import pyarrow.parquet as pq

decimal.getcontext().prec = 60
rnd = random.Random(5)
N = 1300


def some(make, nulls=0.2):
    return [None if rnd.random() < nulls else make(i) for i in range(N)]


def dec(digits, scale):
    return lambda i: decimal.Decimal(rnd.randrange(-(10 ** digits) + 1, 10 ** digits)).scaleb(-scale)


def text(i):
    return rnd.choice(["", "a", "bb", "ünïcode", "x" * 40, f"value {i}", f"value {i % 7}"])


def table():
    cols = {
        "id": pa.array(range(N), pa.int64()),
        "b": pa.array(some(lambda i: rnd.random() < 0.5), pa.bool_()),
        "i8": pa.array(some(lambda i: rnd.randrange(-128, 128)), pa.int8()),
        "i16": pa.array(some(lambda i: rnd.randrange(-(2 ** 15), 2 ** 15)), pa.int16()),
        "i32": pa.array(some(lambda i: i * 3 - 1000, 0), pa.int32()),
        "u8": pa.array(some(lambda i: rnd.randrange(256)), pa.uint8()),
        "u32": pa.array(some(lambda i: rnd.randrange(2 ** 32)), pa.uint32()),
        "u64": pa.array(some(lambda i: rnd.randrange(2 ** 64)), pa.uint64()),
        "f": pa.array(some(lambda i: rnd.random() * 1000), pa.float32()),
        "d": pa.array(some(lambda i: float(i % 11)), pa.float64()),
        "s": pa.array(some(text), pa.string()),
        "sorted": pa.array([f"prefix-{i // 3:06d}-suffix" for i in range(N)], pa.string()),
        "bin": pa.array(some(lambda i: rnd.randbytes(i % 9)), pa.binary()),
        "fix": pa.array(some(lambda i: rnd.randbytes(5)), pa.binary(5)),
        "d5": pa.array(some(dec(5, 2)), pa.decimal128(5, 2)),
        "d18": pa.array(some(dec(18, 6)), pa.decimal128(18, 6)),
        "d38": pa.array(some(dec(38, 10)), pa.decimal128(38, 10)),
        "day": pa.array(some(lambda i: dt.date(1900, 1, 1) + dt.timedelta(days=rnd.randrange(60000))), pa.date32()),
        "t_ms": pa.array(some(lambda i: rnd.randrange(86400000)), pa.int32()).cast(pa.time32("ms")),
        "t_us": pa.array(some(lambda i: rnd.randrange(86400000000)), pa.int64()).cast(pa.time64("us")),
        "t_ns": pa.array(some(lambda i: rnd.randrange(86400000000000)), pa.int64()).cast(pa.time64("ns")),
        "ts_ms": pa.array(some(lambda i: rnd.randrange(-(10 ** 13), 10 ** 13)), pa.timestamp("ms")),
        "ts_us": pa.array(some(lambda i: rnd.randrange(-(10 ** 16), 10 ** 16)), pa.timestamp("us", "UTC")),
        "ts_ns": pa.array(some(lambda i: rnd.randrange(-(10 ** 18), 10 ** 18)), pa.timestamp("ns")),
        "none": pa.array([None] * N, pa.string()),
        "li": pa.array(some(lambda i: [rnd.choice([None, 1, 2, i]) for _ in range(rnd.randrange(4))]), pa.list_(pa.int32())),
        "lls": pa.array(some(lambda i: [rnd.choice([None, [], [text(i), None], [text(i)]]) for _ in range(rnd.randrange(3))]), pa.list_(pa.list_(pa.string()))),
        "m": pa.array(some(lambda i: [(f"k{j}", rnd.choice([None, j])) for j in range(rnd.randrange(3))]), pa.map_(pa.string(), pa.int64())),
        "r": pa.array(some(lambda i: {"x": rnd.choice([None, i]), "y": rnd.choice([None, text(i)]), "z": rnd.choice([None, {"q": 1.5}, {"q": None}])}),
                      pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.struct([("q", pa.float64())]))])),
        "lr": pa.array(some(lambda i: [rnd.choice([None, {"k": text(i), "v": rnd.choice([None, [1, None, i]])}]) for _ in range(rnd.randrange(3))]),
                       pa.list_(pa.struct([("k", pa.string()), ("v", pa.list_(pa.int64()))]))),
        "mr": pa.array(some(lambda i: [(j, rnd.choice([None, {"a": [(f"{i}", 1)]}])) for j in range(rnd.randrange(3))]),
                       pa.map_(pa.int32(), pa.struct([("a", pa.map_(pa.string(), pa.int32()))]))),
    }
    return pa.table(cols)


t = table()
small = dict(data_page_size=700, row_group_size=700, write_batch_size=64)
pq.write_table(t, "pyarrow_v1.parquet", compression="brotli", data_page_version="1.0", write_page_index=True, write_page_checksum=True, **small)
pq.write_table(t, "pyarrow_v2.parquet", compression="lz4", data_page_version="2.0", store_decimal_as_integer=True, use_compliant_nested_type=False, **small)
deltas = {"id": "DELTA_BINARY_PACKED", "i32": "DELTA_BINARY_PACKED", "u64": "DELTA_BINARY_PACKED", "ts_ms": "DELTA_BINARY_PACKED", "s": "DELTA_LENGTH_BYTE_ARRAY",
          "bin": "DELTA_LENGTH_BYTE_ARRAY", "sorted": "DELTA_BYTE_ARRAY", "fix": "DELTA_BYTE_ARRAY", "f": "BYTE_STREAM_SPLIT", "d": "BYTE_STREAM_SPLIT", "d18": "BYTE_STREAM_SPLIT",
          "day": "BYTE_STREAM_SPLIT", "b": "RLE", "li.list.element": "DELTA_BINARY_PACKED", "lls.list.element.list.element": "DELTA_BYTE_ARRAY"}
pq.write_table(t, "pyarrow_encodings.parquet", compression="none", data_page_version="2.0", use_dictionary=False, column_encoding=deltas, **small)
pq.write_table(t.select(["id", "ts_ns", "u32", "s"]), "pyarrow_int96.parquet", compression="gzip", use_deprecated_int96_timestamps=True, **small)
