"""Random projects of 2 to 10 results: nothing accepted narrows what is protected."""

import pytest
from outputs.random_projects import attacked


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
