"""A folder with records, a workbench on it, and requests as its page sends them."""

import csv
import random
from typing import Any

from starlette.testclient import TestClient

from diskret.workbench.app import application
from diskret.workbench.bench import Bench
from diskret.workbench.gate import TOKEN, Gate

PORT = 8123
SECRET = "t" * 43
HOST = f"http://127.0.0.1:{PORT}"


def records(folder, rows=400, seed=1):
    """Firms of heavy tails; a code of two levels, some of them rare."""
    draw = random.Random(seed)
    path = folder / "firms.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["firm_id", "code", "size", "turnover"])
        for i in range(rows):
            code = draw.choices(["A1", "A2", "B1", "B2", "B3", "C1"], [90, 80, 70, 60, 4, 30])[0]
            size = draw.choices(["s", "m", "l"], [60, 30, 2])[0]
            lines.writerow([f"F{i:05}", code, size, int(draw.paretovariate(0.9) * 100)])
    return path


def draft(**more) -> dict[str, Any]:
    """A job on these records."""
    table = {
        "by": {"code": "flat", "size": "flat"},
        "value": "turnover",
        "unit": "firm_id",
        "rules": {"p_percent": {"p": 10}, "minimum_frequency": {"n": 3}},
        **more,
    }
    return {
        "records": {"path": "firms.csv"},
        "tables": [table],
        "output": {"folder": "out", "formats": ["csv"]},
    }


def client(bench, token: str | None = SECRET, host=HOST):
    """What the page sends."""
    inside = Gate(application(bench), SECRET, PORT)
    headers = {} if token is None else {TOKEN: token}
    return TestClient(inside, base_url=host, headers=headers, raise_server_exceptions=False)


def opened(folder, language="en"):
    """A workbench with a draft, and its page."""
    records(folder)
    bench = Bench(folder, language)
    page = client(bench)
    assert page.put("/api/draft", json={"draft": draft()}).status_code == 200
    return bench, page
