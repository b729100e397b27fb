"""Random projects of 2 to 10 results: nothing accepted narrows what is protected."""

import numpy as np
import pandas as pd
import pytest
from outputs.project_attack import confined
from outputs.random_projects import THRESHOLD, attacked


@pytest.mark.parametrize("seed", range(8))
def test_nothing_accepted_narrows_what_is_protected(seed):
    said, _, _ = attacked(seed)
    assert said == ""


@pytest.mark.slow
@pytest.mark.parametrize("block", range(100))
def test_nothing_accepted_narrows_what_is_protected_in_ten_thousand_projects(block):
    for seed in range(100 * block, 100 * (block + 1)):
        said, _, _ = attacked(seed)
        assert said == ""


def confined_in(seed):
    """Of a random project without exceptions: numbers that whole numbers leave a single value."""
    left = []
    attacked(seed, left)
    frame, told, hidden, excepted = left[0]
    return confined(frame, told, hidden, THRESHOLD) if told and not excepted else []


@pytest.mark.parametrize("seed", range(3))
def test_whole_numbers_leave_no_small_number_a_single_value(seed):
    assert confined_in(seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_whole_numbers_leave_no_small_number_a_single_value_in_two_hundred_projects(block):
    for seed in range(10 * block, 10 * (block + 1)):
        assert confined_in(seed) == []


def test_the_programme_of_whole_numbers_finds_what_is_left_a_single_value():
    """3 a + 2 b = 5 has one solution in whole numbers; no number of few follows by factors."""
    sizes = {"a": 1, "b": 1, "x": 30, "y": 30, "z": 30}
    part = np.repeat([*sizes], [*sizes.values()])
    frame = pd.DataFrame({"firm": range(len(part))})
    sets = [np.flatnonzero(np.isin(part, [*one])) for one in ("abx", "aby", "az", "xyz")]
    told = [(one, "") for one in sets]
    assert len(confined(frame, told, [], THRESHOLD)) == 2
    assert confined(frame, told[:3], [], THRESHOLD) == []


@pytest.mark.parametrize(
    ("search", "seeds"),
    [
        ("project.beside", range(12)),  # results judged alone, as ACRO judges them
        ("beside.families", (353, 564, 612)),  # variables that hang together, each by itself
        ("moments.pairs_told", (489, 543, 582, 596, 618)),
    ],
)
def test_the_attack_finds_what_a_project_would_let_through(monkeypatch, search, seeds):
    monkeypatch.setattr(f"diskret.outputs.{search}", lambda *_, **__: [])
    assert [said for said, _, _ in map(attacked, seeds) if said]
