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


def test_the_attack_finds_what_a_project_would_let_through(monkeypatch):
    """Sabotage: results that are judged alone, as ACRO judges them."""
    monkeypatch.setattr("diskret.outputs.project.beside", lambda *_: [])
    assert [said for said, _, _ in map(attacked, range(12)) if said]
