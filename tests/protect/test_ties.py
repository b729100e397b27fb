"""Secret ties: the key decides between equal costs, and nothing but key and definition."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect.plan import keyed_ties

RULE = dk.rules.MinimumFrequency(3)
KEYS = [dk.SecretKeys(bytes(range(i, i + 32))) for i in range(12)]
CODES = ["a", "b", "c", "d", "e"]


def line(codes=CODES, counts=(2, 5, 5, 5, 5)):
    cells = pa.table({"r": list(codes), "n": list(counts)})
    return dk.Table.from_cells(cells, by={"r": None}, count="n")


def crossed(by=("r", "c"), vintage=""):
    r, c = zip(*((a, b) for a in "abc" for b in "xy"), strict=True)
    cells = pa.table({"r": r, "c": c, "n": [1, 5, 5, 9, 5, 6]})
    return dk.Table.from_cells(cells, by=dict.fromkeys(by), count="n", vintage=vintage)


def hidden(result):
    codes = result.table.dimensions[0].hierarchy.codes
    return {codes[i] for i in np.flatnonzero(result.published.suppressed)}


@pytest.mark.parametrize("method", ["sequential", "optimal"])
def test_the_key_decides_between_equal_costs(method):
    chosen = [hidden(dk.suppress(line(), RULE, keys=key, method=method)) for key in KEYS]
    assert all(len(pattern) == 2 and "a" in pattern for pattern in chosen)
    assert len({frozenset(pattern) for pattern in chosen}) >= 3
    for key, pattern in zip(KEYS, chosen, strict=True):
        codes = line().dimensions[0].hierarchy.codes
        numbers = dict(zip(codes, keyed_ties(line(), key), strict=True))
        (other,) = pattern - {"a"}
        # a programme takes numbers for equal that differ by less than its tolerance
        assert numbers[other] <= min(numbers[c] for c in "bcde") + 0.05 * (method == "optimal")


@examples(30)
@given(st.permutations(range(5)), st.sampled_from(KEYS))
def test_row_order_does_not_matter(order, key):
    moved = line([CODES[i] for i in order], [(2, 5, 5, 5, 5)[i] for i in order])
    expected = hidden(dk.suppress(line(), RULE, keys=key))
    assert hidden(dk.suppress(moved, RULE, keys=key)) == expected


@pytest.mark.parametrize("key", KEYS)
def test_costs_and_last_period_come_first(key):
    cheapest = dk.suppress(line(counts=(2, 9, 7, 8, 6)), RULE, keys=key)
    assert hidden(cheapest) == {"a", "e"}
    before = pa.table({"r": ["d"]})
    assert hidden(dk.suppress(line(), RULE, keys=key, previous=before)) == {"a", "d"}
    cells = dk.suppress(line(), RULE, keys=key, cost="cells")
    assert "Total" not in hidden(cells)


def test_without_keys_the_choice_is_the_same_as_ever():
    assert hidden(dk.suppress(line(), RULE)) == hidden(dk.suppress(line(), RULE))
    assert "ties" not in dk.suppress(line(), RULE).settings
    assert dk.suppress(line(), RULE, keys=KEYS[0]).settings["ties"] == "keyed"


def test_a_cell_has_one_number_in_every_table():
    key = KEYS[1]
    both, turned = keyed_ties(crossed(), key), keyed_ties(crossed(("c", "r")), key)
    assert (both == turned.T).all()
    assert len(np.unique(both)) == both.size
    assert (both[:, 0] == keyed_ties(line("abc", (6, 14, 11)), key)).all()  # c = Total
    assert both.min() >= 0
    assert both.max() < 1


def test_other_keys_periods_and_codes_have_other_numbers():
    first = keyed_ties(crossed(), KEYS[0])
    assert not np.isin(first, keyed_ties(crossed(), KEYS[1])).any()
    assert not np.isin(first, keyed_ties(crossed(vintage="2025"), KEYS[0])).any()


def test_a_filter_for_one_code_selects_as_the_code_does():
    records = pa.table({"r": list("aabbb"), "c": list("xyxyy")})
    whole = dk.tabulate(records, by={"r": None, "c": None})
    only = dk.tabulate(records, by={"r": None}, where={"c": "y"})
    y = whole.dimensions[1].hierarchy.position["y"]
    assert (keyed_ties(only, KEYS[0]) == keyed_ties(whole, KEYS[0])[:, y]).all()


JOB = """
keyed_ties = true
[records]
path = "firms.csv"
[[tables]]
by = { r = "flat" }
rules = { minimum_frequency = { n = 3 } }
[output]
formats = ["csv"]
"""


def test_a_job_uses_the_keys_for_ties_if_it_says_so(tmp_path):
    rows = [code for code, n in zip(CODES, (2, 5, 5, 5, 5), strict=True) for _ in range(n)]
    (tmp_path / "firms.csv").write_text("\n".join(["r", *rows]), encoding="utf-8")
    path = tmp_path / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    for key in KEYS[:4]:
        expected = hidden(dk.suppress(line(), RULE, keys=key))
        assert hidden(run_job(read_job(path), keys=key)[1][0]) == expected
    path.write_text(JOB.replace("keyed_ties = true", ""), encoding="utf-8")
    patterns = [hidden(run_job(read_job(path), keys=key)[1][0]) for key in KEYS[:4]]
    assert patterns == [hidden(dk.suppress(line(), RULE))] * 4


def test_no_public_file_tells(tmp_path):
    for name, keys in {"plain": None, "keyed": KEYS[0]}.items():
        result = dk.suppress(line(counts=(2, 9, 7, 8, 6)), RULE, keys=keys)
        result.write(tmp_path / name, formats=["csv", "html"], keys=KEYS[0])
    public = sorted((tmp_path / "plain/public").iterdir())
    assert public
    for file in public:
        assert file.read_bytes() == (tmp_path / "keyed/public" / file.name).read_bytes()
