"""Fuzzing of every parser of τ-ARGUS files: no traceback, no hang, nothing half-written.

Damage by structure (lines, commands, fields exchanged between files of all kinds) and by bytes. The
short form runs always, the long one, 100,000 inputs, with `make test-all` (`slow`).
"""

import random
import signal
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from argus_jobs import BATCH, METADATA, RECORDS, TREE
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret import argus
from diskret.argus.batch import AprioriText, Recode, read_batch
from diskret.argus.by_hand import apriori_rules
from diskret.argus.metadata import Variable, read_metadata
from diskret.argus.read_data import in_lines, read_data
from diskret.argus.text import Folders, Place
from diskret.argus.trees import axis_of, recoded
from diskret.errors import DiskretError
from diskret.io import Column, read_fixed

HST = "2;S;u\n3;;s\n4;L;c;5\n1;S;pl;3;4\nNorth;;p\n3;L;m\n"
GRC = "new: 1-5,7\n3: -49\n<TREERECODE>\nNorth\n"
CDL = "1,First\n2,Second\n"
FREE = 'N;1;S;100\n"S";2;L; 90,5\n\nN;3;S;-1e3\n'
CELLS = '<SEPARATOR> ";"\n<SAFE> S\nR\n<RECODEABLE>\n<TOTCODE> T\nV\n<NUMERIC>\n<DECIMALS> 1\n'
OF_FREE = (
    '<SEPARATOR> ";"\nA 1\n<RECODEABLE>\nR 1\n<RECODEABLE>\nS 1\n<RECODEABLE>\nV 6\n<NUMERIC>\n'
)
SEEDS = {
    "batch": BATCH + '<APRIORI> "a.hst",1,";",0,1\n<RECODE> 1,Size,2\n<LOGBOOK> "l"\n',
    "records": METADATA,
    "cells": CELLS,
    "tree": TREE,
    "hst": HST,
    "grc": GRC,
    "cdl": CDL,
    "fixed": RECORDS,
    "free": FREE,
}
TOKENS = (
    *'<>|",()@;:-0 9\t\r\n', "\x00", "\x1a", "ä", "\ufeff", "\u2028", "//", "\\\\", "@@",
    '""', "1e400", "-1", "nan", "inf", "9" * 30, "99999", "T", "Total", "<freq>", "Region", "North",
    "s;", "pl;", "m",
    "<CLEAR>\n", "<NUMERIC>\n", "<HIERLEVELS> 9 9\n", "<DECIMALS> 18\n", "<SEPARATOR> \t\n",
    "<CKM> T(3)\n", "<SCALING> F(1,2,3,4)\n", "<DISTANCE> 1 2 3\n", "CKM(1) a|b|c", "<PARITY> Y\n",
    "MOD(0,5)", "P(10,1)|", "NK(9,99)|", "REQ(1,1,1,1)|", "1T", "A" * 300,
)  # fmt: skip


def parsed(kind: str, raw: bytes, folder: Path) -> None:
    """Read a file as what it is said to be, and use what was read."""
    path = folder / f"file.{kind}"
    path.write_bytes(raw)
    place, folders = Place(path, 1), Folders(folder)
    if kind == "batch":
        assert all(part.parts for part in read_batch(path).parts)
    elif kind in ("records", "cells"):
        assert read_metadata(path, kind).variables
    elif kind == "tree":
        variable = Variable("Region", place, tree=path.name)
        assert len(axis_of(variable, ["1", "2", "9"], folders, False).tree) > 1
    elif kind == "hst":
        table = small()
        for ignore in (True, False):
            text = AprioriText(place, 1, path.name, ";", ignore)
            apriori_rules(text, folders, table, 10, table.empty & False)
    elif kind == "grc":
        flat = axis_of(Variable("Size", place), ["1", "2", "3", "45"], folders, False)
        recoded(flat, Recode(place, 1, "Size", path.name), folders)
    elif kind == "cdl":
        axis_of(Variable("Size", place, labels=path.name), ["1", "2"], folders, False)
    elif kind == "free":
        (folder / "of.rda").write_text(OF_FREE, encoding="utf-8")
        try:
            metadata = read_metadata(folder / "of.rda", "records")
        finally:
            (folder / "of.rda").unlink()
        frame = read_data(path, "records", metadata, metadata.variables)
        with in_lines(path, frame, path.name):
            dk.tabulate(frame, by={"R": None, "S": None}, value="V", decimals=1)
    else:
        read_fixed(path, [Column("a", 1, 1), Column("v", 6, 6)], "latin-1")


@cache
def small():
    """A table for files of what is known of single cells."""
    names = ("Part", "Region", "Size", "Turnover")
    rows = [dict(zip(names, line.split(), strict=True)) for line in RECORDS.splitlines()]
    by = {"Region": None, "Size": None}
    return dk.tabulate(pa.Table.from_pylist(rows), by=by, value="Turnover", largest=3)


@contextmanager
def within(seconds: int):
    """Fail where a parser hangs: far beyond what any of these inputs can take."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def hangs(*_):
        raise TimeoutError("a parser hangs")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refused_or_read(kind: str, raw: bytes) -> bool:
    """Whether the input is refused; anything but words is an error of the test."""
    with tempfile.TemporaryDirectory() as name, within(60):
        folder = Path(name)
        try:
            parsed(kind, raw, folder)
            refused = False
        except DiskretError as error:
            assert str(error).strip()
            refused = True
        assert [path.name for path in folder.iterdir()] == [f"file.{kind}"]
        assert (folder / f"file.{kind}").read_bytes() == raw
    return refused


def by_structure(kind: str, chance: random.Random) -> bytes:
    """Lines and fields dropped, doubled, exchanged with those of files of other kinds."""
    lines = SEEDS[kind].split("\n")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines) + 1)
        how = chance.randrange(4)
        if how == 0 and lines:
            lines[at : at + 1] = [lines[min(at, len(lines) - 1)]] * chance.choice([0, 2])
        elif how == 1:
            lines.insert(at, chance.choice(SEEDS[chance.choice([*SEEDS])].split("\n")))
        else:
            at = min(at, len(lines) - 1) if lines else 0
            line = lines[at] if lines else ""
            cut = chance.randint(0, len(line))
            after = line[cut + chance.randint(0, 3) :]
            lines[at : at + 1] = [line[:cut] + chance.choice(TOKENS) + after]
    text = chance.choice(["\n", "\n", "\r\n", "\r"]).join(lines)
    return text.encode(chance.choice(["utf-8", "utf-8", "latin-1", "cp1252", "utf-16"]), "replace")


def by_bytes(kind: str, chance: random.Random) -> bytes:
    """Bytes dropped, doubled, exchanged, cut off, or nothing but chance."""
    raw = bytearray(SEEDS[kind].encode())
    if chance.randrange(20) == 0:
        return chance.randbytes(chance.randint(0, 60))
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(raw))
        raw[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(raw[: chance.choice([len(raw), chance.randint(0, len(raw))])])


@examples(300)
@given(st.sampled_from([*SEEDS]), st.booleans(), st.integers(0, 2**32))
def test_a_damaged_file_is_refused_in_words_or_read(kind, structured, seed):
    refused_or_read(kind, (by_structure if structured else by_bytes)(kind, random.Random(seed)))


@examples(60)
@given(st.sampled_from([*SEEDS]), st.binary(max_size=80))
def test_any_bytes_are_refused_in_words_or_read(kind, raw):
    refused_or_read(kind, raw)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*SEEDS])
def test_a_hundred_thousand_damaged_files(kind):
    chance, refused = random.Random(len(kind)), 0
    for number in range(100_000 // len(SEEDS)):
        damaged = by_bytes if number % 2 else by_structure
        refused += refused_or_read(kind, damaged(kind, chance))
    # neither is all refused nor all read: the damage reaches what the parser is for
    assert 0 < refused < 100_000 // len(SEEDS)


@examples(40)
@given(st.integers(0, 2**32))
def test_a_damaged_job_is_not_half_written_as_a_job(seed):
    chance = random.Random(seed)
    files = {"job.arb": BATCH, "firms.rda": METADATA, "region.hrc": TREE, "firms.asc": RECORDS}
    kinds = {"job.arb": "batch", "firms.rda": "records", "region.hrc": "tree", "firms.asc": "fixed"}
    with tempfile.TemporaryDirectory() as name, within(120):
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_bytes(text.encode())
        file = chance.choice([*files])
        (folder / file).write_bytes(by_structure(kinds[file], chance))
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        try:
            written = argus.to_job(folder / "job.arb", folder / "own.toml")
        except DiskretError as error:
            assert str(error).strip()
            written = ()
        after = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert {path.name for path in written} == {*after} - {*before}
        assert all(after[name] == raw for name, raw in before.items())
