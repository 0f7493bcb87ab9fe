"""Writes the fastavro_*.avro files of this folder and prints their rows, with fastavro 1.12."""
import random
import struct

import fastavro

rnd = random.Random(3)
NULLABLE = ["null", "long"]
SCHEMA = {
    "type": "record", "name": "R", "namespace": "test.space", "fields": [
        {"name": "id", "type": "int"},
        {"name": "swapped", "type": ["string", "null"]},
        {"name": "only", "type": ["double"]},
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"]}},
        {"name": "five", "type": ["null", {"type": "fixed", "name": "Five", "size": 5}]},
        {"name": "skipme", "type": {"type": "array", "items": {"type": "record", "name": "Node", "fields": [
            {"name": "v", "type": NULLABLE}, {"name": "next", "type": ["null", "Node"]}]}}},
        {"name": "amount", "type": ["null", {"type": "fixed", "name": "Amount", "size": 9}]},
        {"name": "m", "type": ["null", {"type": "map", "values": ["null", "float"]}]},
        {"name": "kv", "type": ["null", {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "KV", "fields": [
            {"name": "key", "type": "long"}, {"name": "value", "type": ["null", "bytes"]}]}}]},
        {"name": "again", "type": ["null", "Five"]},
        {"name": "deep", "type": ["null", {"type": "record", "name": "Deep", "fields": [
            {"name": "list", "type": ["null", {"type": "array", "items": ["null", {"type": "array", "items": "boolean"}]}]}, {"name": "x", "type": NULLABLE}]}]},
    ],
}


def node(depth):
    return {"v": rnd.choice([None, rnd.randrange(-2 ** 63, 2 ** 63)]), "next": node(depth - 1) if depth and rnd.random() < 0.7 else None}


def row(i):
    maybe = lambda x: None if rnd.random() < 0.25 else x
    return {
        "id": i - 500, "swapped": maybe(f"text {i}"), "only": i / 4, "color": rnd.choice(["RED", "GREEN"]), "five": maybe(rnd.randbytes(5)),
        "skipme": [node(4) for _ in range(rnd.randrange(3))], "amount": maybe(rnd.randrange(-2 ** 70, 2 ** 70).to_bytes(9, "big", signed=True)),
        "m": maybe({f"k{j}": maybe(float(j)) for j in range(rnd.randrange(4))}), "kv": maybe([{"key": j, "value": maybe(rnd.randbytes(j))} for j in range(rnd.randrange(4))]),
        "again": maybe(rnd.randbytes(5)), "deep": maybe({"list": maybe([maybe([True, False][:j]) for j in range(3)]), "x": maybe(i)}),
    }


def text(v):
    if v is None:
        return "N"
    if isinstance(v, bool):
        return str(int(v))
    if isinstance(v, int):
        return str(v)
    if isinstance(v, float):
        return "f%08x" % struct.unpack("<I", struct.pack("<f", v))[0]
    if isinstance(v, str):
        return "'" + v.encode().hex()
    if isinstance(v, bytes):
        return "'" + v.hex()
    if isinstance(v, list):
        if v and isinstance(v[0], dict):
            return "{" + ",".join(text(e["key"]) + ":" + text(e["value"]) for e in v) + "}"
        return "[" + ",".join(text(e) for e in v) + "]"
    return "{" + ",".join(text(k) + ":" + text(e) for k, e in v.items()) + "}"


for codec in ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]:
    rnd.seed(3)
    n = 1000 if codec == "zstandard" else 60
    with open(f"fastavro_{codec}.avro", "wb") as f:
        fastavro.writer(f, fastavro.parse_schema(SCHEMA), (row(i) for i in range(n)), codec=codec, sync_interval=2000)
rnd.seed(3)
with open("fastavro.txt", "w") as f:
    for i in range(1000):
        r = row(i)
        r.pop("skipme")
        r["only"] = "d%016x" % struct.unpack("<Q", struct.pack("<d", r["only"]))[0]
        if r["m"] is not None:
            r["m"] = {k: v for k, v in r["m"].items()}
        if r["amount"] is not None:
            r["amount"] = int.from_bytes(r["amount"], "big", signed=True)
        d = r.pop("deep")
        deep = "N" if d is None else "(" + text(d["list"]) + "," + text(d["x"]) + ")"
        kv = r.pop("kv")
        r["kv"] = kv
        order = ["id", "swapped", "only", "color", "five", "amount", "m", "kv", "again"]
        parts = [r[k] if k == "only" else ("{}" if k == "kv" and r[k] == [] else text(r[k])) for k in order]
        f.write("|".join(parts + [deep]) + "\n")
