"""What later tables tell of counts that were rounded: nobody has judged them before.

Rounding of small counts leaves large ones as they are, so an exact total beside them tells the rest
"""

import numpy as np
import pyarrow as pa
import pytest
from earlier_releases import Before
from profiles import scaled

import diskret as dk
from diskret.errors import ProofError
from diskret.ledger.refusals import attack_again

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
PLACES, JOBS = "NSW", "abc"


def tabulated(records, *names):
    trees = {"place": dk.Hierarchy.flat(list(PLACES)), "job": dk.Hierarchy.flat(list(JOBS))}
    return dk.tabulate(records, by={name: trees[name] for name in names})


def counts(result, *names):
    """What is shown of each cell, by its codes."""
    rows = result.public.to_pylist()
    return {tuple(r[n] for n in names): r["count"] for r in rows if r["status"] != "suppressed"}


def records_of(cells):
    rows = [(p, j) for (p, j), n in cells.items() for _ in range(n)]
    return pa.table({"place": [p for p, _ in rows], "job": [j for _, j in rows]})


def drawn(seed):
    draw = np.random.default_rng(seed)
    return records_of({(p, j): int(draw.choice([0, 1, 2, 5, 9])) for p in PLACES for j in JOBS})


def subtracted(rounded, base, exact):
    """Counts that an exact total leaves of a place, where all other counts there are true ones.

    Read off two published tables, by what everybody knows of rounding: from the base on a count of
    a finest combination is the true one, unless it is the base itself.
    """
    for place in PLACES:
        here = {job: rounded[place, job] for job in JOBS}
        small = [job for job, n in here.items() if n <= base]
        if (place,) in exact and len(small) == 1:
            left = exact[(place,)] - sum(n for job, n in here.items() if job not in small)
            yield place, small[0], left


@pytest.mark.parametrize("seed", range(scaled(60)))
def test_no_count_that_was_rounded_is_left_by_an_exact_total(seed):
    records = drawn(seed)
    earlier = dk.round_table(tabulated(records, "place", "job"), 3, "small_counts", keys=KEYS)
    rounded = counts(earlier, "place", "job")
    before = Before(earlier.remembered("r"))
    open_ = counts(dk.suppress(tabulated(records, "place"), RULE), "place")
    result = dk.suppress(tabulated(records, "place"), RULE, ledger=before)
    there = list(zip(*records.to_pydict().values(), strict=True))
    for place, job, left in subtracted(rounded, 3, open_):
        assert left == there.count((place, job))  # the attack is right where nobody prevents it
    for _, _, left in subtracted(rounded, 3, counts(result, "place")):
        assert left == 0 or left >= 3
    assert not attack_again([result], before.entries)


def test_some_of_these_totals_have_to_be_hidden():
    left = [
        n
        for seed in range(12)
        for _, _, n in subtracted(
            counts(
                dk.round_table(
                    tabulated(drawn(seed), "place", "job"), 3, "small_counts", keys=KEYS
                ),
                "place",
                "job",
            ),
            3,
            counts(dk.suppress(tabulated(drawn(seed), "place"), RULE), "place"),
        )
    ]
    assert sum(0 < n < 3 for n in left) >= 3


#: 2 persons in N and none elsewhere that 3 would not show as they are.
SEVEN_AND_TWO = {
    ("N", "a"): 7,
    ("N", "b"): 2,
    ("N", "c"): 5,
    ("S", "a"): 9,
    ("S", "b"): 12,
    ("S", "c"): 4,
    ("W", "c"): 15,
}


def test_a_table_protected_without_the_rounded_one_does_not_leave_beside_it():
    records = records_of(SEVEN_AND_TWO)
    fine = dk.round_table(tabulated(records, "place", "job"), 3, "small_counts", keys=KEYS)
    blind = dk.suppress(tabulated(records, "place"), RULE)
    with pytest.raises(ProofError, match="parts of categories.*place=N"):
        attack_again([blind], [fine.remembered("r")])


def test_what_no_rule_can_judge_is_not_claimed():
    records = records_of(SEVEN_AND_TWO)
    fine = dk.round_table(tabulated(records, "place", "job"), 3, "small_counts", keys=KEYS)
    new = tabulated(records, "place")
    zero = np.zeros(new.shape, dtype=np.int64)
    found = dk.Sensitivity(zero > 0, zero, zero, zero, (zero - 1).astype(np.int8), ())
    result = dk.suppress(new, found, ledger=Before(fine.remembered("r")))
    assert result.certificate.proof.parts_claimed is False
    assert dk.suppress(new, found).certificate.proof.parts_claimed is None


def test_who_knows_that_zeros_are_shown_does_not_know_it_of_rounded_counts():
    """Nobody is a in N: with a count of at least 1 there, no table would be possible."""
    records = records_of({("N", "b"): 8, ("S", "a"): 9, ("S", "b"): 12, ("W", "a"): 15})
    fine = dk.round_table(tabulated(records, "place", "job"), 3, keys=KEYS)
    before = Before(fine.remembered("r"))
    knowing = dk.Attacker(zeros_known=True)
    new = tabulated(records, "place")
    assert counts(dk.suppress(new, RULE, ledger=before, attacker=knowing), "place")["N",] == 8
