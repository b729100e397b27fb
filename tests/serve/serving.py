"""Data sets for tests of tables in real time, and what a reader computes from the records."""

import numpy as np
import pyarrow as pa

from diskret.cellkey import PerturbationTable, as_lookup
from diskret.keys import SecretKeys
from diskret.serve import DataSet, Tabulator, Variable
from diskret.serve.noise import MODULUS, noise_keys

KEYS = SecretKeys(bytes(range(32)))
# names and codes that collide when they are joined or taken for numbers or SQL
CODES = {
    "region": ("1", "01", "N", "n"),
    "re": ("gion", 'a"b', "';--"),
    "sex": ("f", "m"),
    "age": tuple(f"{i}" for i in range(10)),
}


def people(number=4000, seed=1):
    """Records with a code in each variable, skewed, and a key."""
    draw = np.random.default_rng(seed)
    columns = {}
    for name, codes in CODES.items():
        share = 0.6 ** np.arange(len(codes))
        columns[name] = draw.choice(codes, number, p=share / share.sum())
    columns["key"] = draw.integers(2**32, size=number)
    return columns


def census(records=None, **other):
    """A data set of them."""
    given = {
        "name": "census",
        "records": pa.table(people() if records is None else records),
        "record_key": "key",
        "variables": tuple(Variable(name, codes) for name, codes in CODES.items()),
        "noise": PerturbationTable.maximum_entropy(4, 2.25, small_counts=2),
        "questions": 100,
        "share": 1.0,
    }
    return DataSet(**(given | other))


def tabulator(*data, keys=KEYS, **other):
    return Tabulator(data or [census()], keys, **other)


def by_hand(records, data, cell, keys=KEYS):
    """What is shown of the records with some codes: counted one by one, keys added as integers."""
    inside = [
        int(key)
        for at, key in enumerate(records["key"].tolist())
        if all(records[name][at] in codes for name, codes in cell.items())
    ]
    key = np.array([sum(inside) % data.key_modulus], dtype=np.uint64)
    lookup = as_lookup(data.noise, MODULUS)
    count = np.array([len(inside)])
    return int((count + lookup(count, noise_keys(key, keys)))[0])
