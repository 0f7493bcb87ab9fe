"""What the Python clients share: reading the tour and printing rows."""

import datetime
import decimal


def queries(path):
    """Returns the statements of a script's query records in order."""
    lines = open(path, encoding="utf-8").read().split("\n")
    return [lines[i + 1] for i, line in enumerate(lines) if line.startswith("query ")]


def cell(value):
    if value is None:
        return "\\N"
    if isinstance(value, (bytes, bytearray)):
        return value.hex().upper()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.timedelta):
        seconds, sign = abs(value), "-" if value < datetime.timedelta(0) else ""
        hours, rest = divmod(seconds.days * 86400 + seconds.seconds, 3600)
        return "%s%02d:%02d:%02d.%06d" % (sign, hours, rest // 60, rest % 60, seconds.microseconds)
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    for raw, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(raw, escaped)
    return text


def run(path, execute):
    """Runs every query with execute(sql), which returns rows, and prints the answers."""
    for number, sql in enumerate(queries(path), 1):
        print("== %d" % number)
        try:
            rows = execute(sql)
        except Exception as error:
            print("!! " + " ".join(str(error).split()))
            continue
        for row in rows:
            print("\t".join(cell(value) for value in row))
