"""Linkage, intervals and regions of numeric variables: CPU seconds, peak memory, what is found.

    python benchmarks/microdata_link.py [10000 100000 1000000]

Persons come from ``_records.py``, with four numeric variables. The protected values have noise of a
tenth of a standard deviation; blocks are two of the keys. Seconds are those of the processor, of
all threads. Peak memory is that of the process so far, the file included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from sys import argv

import numpy as np
from _memory import peak_megabytes
from _records import KEYS, NUMERIC, persons

from diskret import Microdata
from diskret.risk.intervals import deviation_intervals, rank_intervals, regions
from diskret.risk.linkage import assigned, linked
from diskret.risk.neighbours import Seen
from diskret.risk.probabilistic_linkage import linked_by_weights


def main(arguments: Sequence[str]) -> None:
    print("records    seconds  peak MB  call: what was found")
    for rows in [int(rows) for rows in arguments] or [10_000, 100_000, 1_000_000]:
        md = Microdata(persons(rows), numeric=NUMERIC)
        original = md.numbers()
        noise = np.random.default_rng(1).normal(scale=0.1, size=original.shape)
        protected = original + noise * original.std(axis=0)
        blocks = np.column_stack([md.coded(name).codes for name in KEYS[:2]])
        plain = Seen(original), Seen(protected)
        within = Seen(original, blocks=blocks), Seen(protected, blocks=blocks)

        def region(
            original: np.ndarray = original, protected: np.ndarray = protected
        ) -> dict[str, float]:
            found = regions(original, protected)
            return {"first any": found.first.any, "second all": found.second.all}

        calls: dict[str, Callable[[], object]] = {
            "linked": lambda plain=plain: linked(*plain).share,
            "linked, ten candidates": lambda plain=plain: linked(*plain, candidates=10).share_among,
            "linked, Gower": lambda plain=plain: linked(*plain, "gower").share,
            "linked, robust Mahalanobis": lambda plain=plain: (
                linked(*plain, "robust_mahalanobis").share
            ),
            "linked within blocks": lambda within=within: linked(*within).share,
            "weights of agreement": lambda plain=plain: linked_by_weights(*plain).share,
            "weights within blocks": lambda within=within: linked_by_weights(*within).share,
            "assigned, sample of 1,000": lambda plain=plain: assigned(*plain, seed=1).share,
            "SDID": lambda o=original, p=protected: deviation_intervals(o, p).share,
            "rank intervals": lambda o=original, p=protected: rank_intervals(o, p).share,
            "RMDID": region,
        }
        for name, call in calls.items():
            begin = time.process_time()
            found = call()
            seconds = time.process_time() - begin
            print(f"{rows:9,} {seconds:8.2f}  {peak_megabytes():7.0f}  {name}: {found}", flush=True)


if __name__ == "__main__":
    main(argv[1:])
