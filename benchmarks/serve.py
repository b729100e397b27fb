"""The tabulation service under load, over HTTP.

python benchmarks/serve.py [records …] [--ledger postgresql://user@host/database]
                           [--processes 2] [--seconds 10] [--soak MINUTES] [--rate 50] [--new 60]

For each number of made-up people (1,000,000 and 10,000,000 if none is said): the first answer to
tables of five variables, warm tables as fast as they come and at 200 a second, 1,000 users at
once, and a kill in the middle of writing. The load comes from a process of its own, whose processor
time is shown apart (`_serve_load.py`). With ``--soak`` only that: for so many minutes questions at
a rate, a quarter of them for tables that are new in that minute (`--new`, for several users each),
and each minute the memory of the service and the size of its journal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import combinations, count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import diskret as dk
from diskret.keys import SecretKeys
from diskret.serve.config import read_config
from diskret.serve.journal import Journal
from diskret.serve.question import Question
from diskret.serve.tokens import drawn
from diskret.serve.user_file import make_users

#: Variables and how many codes they have.
SHAPE = {
    "age": 10, "edu": 5, "home": 6, "origin": 4, "region": 16, "sex": 2, "tenure": 3, "work": 6,
}  # fmt: skip
USERS = 1_000
RATE = 200
CONFIG = """\
[service]
title = "Load"
users = "users.toml"
ledger = "{ledger}"
port = 0
[service.limits]
each_second = 100000
at_once = 1000000
computed = 2
[[data]]
name = "census"
records = {{ path = "census.parquet" }}
record_key = "key"
questions = 1000000
share = 1.0
[data.noise]
max_noise = 5
variance = 3
small_counts = 2
"""


def code(at: int) -> str:
    """Of a variable."""
    return f"{at:02d}"


def made(folder: Path, records: int, ledger: str) -> list[str]:
    """Records, configuration, ledger and users; their tokens."""
    draw = np.random.default_rng(1)
    columns: dict[str, Any] = {}
    for name, size in SHAPE.items():
        share = 1 / np.arange(1, size + 1)
        at = draw.choice(size, records, p=share / share.sum()).astype(np.int8)
        columns[name] = pa.DictionaryArray.from_arrays(at, [code(i) for i in range(size)])
    columns["key"] = draw.integers(2**32, size=records)
    pq.write_table(pa.table(columns), folder / "census.parquet")
    own = "".join(
        f"[data.variables.{name}]\ncodes = {json.dumps([code(i) for i in range(size)])}\n"
        for name, size in SHAPE.items()
    )
    (folder / "service.toml").write_text(CONFIG.format(ledger=ledger) + own)
    keys = SecretKeys.load(folder / "keys")
    dk.Ledger.create(ledger if "://" in ledger else folder / ledger, keys)
    return users(folder / "users.toml", keys)


def users(path: Path, keys: SecretKeys) -> list[str]:
    """All users with a token each, written at once."""
    make_users(path)
    tokens: list[str] = []
    with open(path, "a", encoding="utf-8") as file:
        for at in range(USERS):
            token, kept = drawn(keys, f"user {at}", date(2999, 1, 1))
            tokens.append(token)
            file.write(
                f'[[users]]\nname = "user {at}"\nrole = "reader"\n[[tokens]]\nuser = "user {at}"\n'
                f'number = "{kept.number}"\nhash = "{kept.hash}"\nuntil = 2999-01-01\n'
            )
    return tokens


@dataclass
class Running:
    """A service, and what the system says of it."""

    process: subprocess.Popen[str]
    url: str

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = (
            Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Of memory now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("utf-8")
        return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1e3


@contextmanager
def running(folder: Path) -> Generator[Running]:
    """A service as a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from diskret.cli import run; run()", "serve", "service.toml"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "DISKRET_KEYS": str(folder / "keys")},
    )
    try:
        for line in process.stdout or ():
            if found := re.search(r"http://\S+", line):
                yield Running(process, found[0])
                return
        raise RuntimeError(f"the service ended with {process.wait()}")
    finally:
        process.kill()
        process.communicate()


def load(**plan: Any) -> dict[str, Any]:
    """What the load generator measured."""
    script = Path(__file__).with_name("_serve_load.py")
    done = subprocess.run(
        [sys.executable, script], input=json.dumps(plan), text=True, capture_output=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


# ── questions ───────────────────────────────────────────────────────────────────────


def warm(number: int) -> list[dict[str, Any]]:
    """Tables of one to three variables."""
    draw = random.Random(1)
    return [
        {"data": "census", "by": draw.sample([*SHAPE], draw.randint(1, 3))} for _ in range(number)
    ]


def fresh(draw: random.Random) -> dict[str, Any]:
    """A table that nobody had, most likely: with filters on half the codes of two variables."""
    by, *filtered = draw.sample([*SHAPE], 4)
    where = {
        name: [code(i) for i in sorted(draw.sample(range(SHAPE[name]), max(SHAPE[name] // 2, 1)))]
        for name in filtered
        if SHAPE[name] > 3
    }
    return {"data": "census", "by": [by], "where": where}


# ── what is measured ────────────────────────────────────────────────────────────────


def spread(seconds: Sequence[float]) -> str:
    """Median, 99th percentile and longest, in milliseconds."""
    middle, high = np.percentile(seconds, [50, 99])
    return (
        f"median {middle * 1e3:,.0f} ms, p99 {high * 1e3:,.0f}, longest {max(seconds) * 1e3:,.0f}"
    )


def under_load(what: str, services: Sequence[Running], **plan: Any) -> None:
    """Print what a plan measured, and who used the processor."""
    before = sum(one.cpu for one in services)
    found = load(urls=[one.url for one in services], **plan)
    served = sum(one.cpu for one in services) - before
    number = len(found["seconds"])
    print(
        f"{what}: {number / found['wall']:,.0f}/s, {spread(found['seconds'])}; "
        f"{found['errors']} errors; service {served / found['wall']:.2f} cores, "
        f"{served / number * 1e3:.1f} ms each; load {found['cpu'] / found['wall']:.2f} cores",
        flush=True,
    )


def first_answers(service: Running, token: str) -> None:
    """How long new tables of five variables take."""
    client = dk.connect(service.url, token=token, timeout=600)
    taken: list[float] = []
    chosen = random.Random(1).sample([*combinations(SHAPE, 5)], 7)
    client.table("census", ["sex"])
    used = service.cpu
    for by in chosen:
        began = time.perf_counter()
        client.table("census", list(by))
        taken.append(time.perf_counter() - began)
    used = (service.cpu - used) / len(taken)
    print(f"first answer of five variables: {spread(taken)}; {used:.2f} CPU s each", flush=True)


def killed(folder: Path, tokens: Sequence[str]) -> None:
    """Kill the service while 16 ask for new tables; all that was answered must still be counted."""
    draw = random.Random(7)
    plan = {
        "do": "writes", "connections": 16, "tokens": tokens[:16],
        "questions": [fresh(draw) for _ in range(20_000)],
    }  # fmt: skip
    script = Path(__file__).with_name("_serve_load.py")
    with running(folder) as service:
        asking = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if asking.stdin is None or asking.stdout is None:
            raise RuntimeError("the load generator has no pipes")
        asking.stdin.write(json.dumps({**plan, "urls": [service.url]}))
        asking.stdin.close()
        lines = [asking.stdout.readline() for _ in range(100)]
        service.process.send_signal(signal.SIGKILL)
        lines += [*asking.stdout]
        asking.wait()
    told = [json.loads(line) for line in lines[:-1]]
    began = time.perf_counter()
    with running(folder) as service:
        opened = time.perf_counter() - began
        client = dk.connect(service.url, token=tokens[0], timeout=600)
        chosen = random.Random(1).sample(told, min(len(told), 50))
        same = sum(
            json.loads(client.download(asked, "json"))["value"] == value for asked, value in chosen
        )
    config = read_config(folder / "service.toml")
    journal = Journal(config.ledger, SecretKeys.load(folder / "keys"))
    counted = {one.family for one in journal.entries() if one.happened == "asked"}
    families = {Question.of(asked).family(config.data[0]) for asked, _ in told}
    print(
        f"killed after {len(told):,} new tables were answered: listening again in {opened:.1f} s; "
        f"{len(families - counted)} are not in the journal, {same} of {len(chosen)} answers are "
        "the same",
        flush=True,
    )


def soak(services: Sequence[Running], tokens: Sequence[str], folder: Path, given: Any) -> None:
    """Warm and new tables, and what grows each minute."""
    minutes: float = given.soak
    draw, known = random.Random(3), warm(40)
    print(f"  memory {', '.join(f'{one.megabytes:,.1f} MB' for one in services)}", flush=True)
    for minute in count(1):
        questions = known * 5 + [fresh(draw) for _ in range(given.new)]
        under_load(
            f"minute {minute}", services, do="steady", seed=minute, rate=given.rate, connections=20,
            tokens=tokens[:20], questions=questions, seconds=min(60, minutes * 60),
        )  # fmt: skip
        memory = ", ".join(f"{one.megabytes:,.1f} MB" for one in services)
        file = folder / given.ledger
        journal = f"; journal {file.stat().st_size / 1e6:,.1f} MB" if file.is_file() else ""
        print(f"  memory {memory}{journal}", flush=True)
        if minute >= minutes:
            return


def measured(records: int, given: argparse.Namespace) -> None:
    """Print what is measured with so many records."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as held:
        folder = Path(name)
        tokens = made(folder, records, given.ledger)
        began = time.perf_counter()
        services = [held.enter_context(running(folder)) for _ in range(given.processes)]
        print(
            f"── {records:,} records, {given.processes} processes: "
            f"listening after {time.perf_counter() - began:.1f} s"
        )
        if given.soak:
            soak(services, tokens, folder, given)
            return
        first_answers(services[0], tokens[0])
        questions = warm(40)
        plan = {"questions": questions, "seed": 1, "tokens": tokens[:20]}
        steady = {**plan, "do": "steady", "connections": 20, "seconds": given.seconds}
        load(urls=[one.url for one in services], **{**plan, "do": "sessions", "each": 200})
        under_load("warm, as fast as they come", services, **steady)
        under_load(f"warm, {RATE} a second", services, **steady, rate=RATE)
        everybody = {"do": "sessions", "tokens": tokens, "each": 3}
        under_load(f"{USERS:,} users at once", services, **{**plan, **everybody})
        print(f"memory {', '.join(f'{one.megabytes:,.0f} MB' for one in services)}")
        held.close()
        killed(folder, tokens)


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("records", nargs="*", type=int, default=[1_000_000, 10_000_000])
    parser.add_argument("--ledger", default="service.db")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--soak", type=float, default=0)
    parser.add_argument("--new", type=int, default=60, help="new tables a minute of a soak")
    parser.add_argument("--rate", type=float, default=50)
    given = parser.parse_args()
    for records in given.records:
        measured(records, given)


if __name__ == "__main__":
    main()
