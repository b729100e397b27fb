"""What runs in the sandbox: reads records and a script, runs it, writes what it returns.

This file is handed to a Python that has no diskret, so it imports nothing of it. It is trusted with
nothing: the script may do with it what it likes, and whatever comes out is read by `channel`.
"""

import io
import json
import os
import struct
import sys
import traceback
from typing import Any

import pyarrow.ipc


def received() -> tuple[str, bytes]:
    """The script and the records, each preceded by its length, from standard input."""
    content = sys.stdin.buffer.read()
    size = struct.unpack_from("<Q", content)[0]
    return content[8 : 8 + size].decode(), content[8 + size :]


def main() -> None:
    """Run the script; its results are one line of JSON, whatever it prints goes elsewhere."""
    out = os.dup(1)
    os.dup2(2, 1)  # what the script prints
    script, arrow = received()
    data = pyarrow.ipc.open_stream(io.BytesIO(arrow)).read_all().to_pandas(use_threads=False)
    results: dict[str, object] = {}

    def add(name: object, figures: object, adds_up: bool = False) -> None:
        results[str(name)] = {"figures": figures, "adds_up": bool(adds_up)}

    def table(name: object, values: Any, adds_up: bool = False) -> None:
        """A Series of numbers: the cells of a table, or the heights of bars."""
        cells = [key if isinstance(key, tuple) else (key,) for key in values.index]
        numbers = [float(one) for one in values]
        figures = [[[*map(str, cell)], one, None] for cell, one in zip(cells, numbers, strict=True)]
        add(name, figures, adds_up)

    def model(name: object, fit: Any) -> None:
        """A fitted model of statsmodels: coefficients and their standard errors."""
        pairs = zip(fit.params.items(), fit.bse, strict=True)
        add(name, [[[str(key)], float(one), float(error)] for (key, one), error in pairs])

    try:
        given = {"__name__": "__main__", "data": data, "table": table, "model": model}
        exec(compile(script, "script.py", "exec"), given)  # noqa: S102 - behind the wall
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os.write(out, json.dumps({"results": results}).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
