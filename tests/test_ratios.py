"""The history of speed: what is said of a ratio, not how fast anything is."""

import json
from pathlib import Path
from runpy import run_path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return run_path(str(BENCHMARKS / "ratios.py"))


@pytest.mark.parametrize(
    ("times", "said"),
    [(1.6, "  slower, 1.6 times"), (1.4, ""), (1.0, ""), (0.7, ""), (0.5, "  faster, 2.0 times")],
)
def test_what_moved_is_named(script, times, said):
    assert script["said"](times) == said


@pytest.mark.long
def test_the_history_has_the_jobs_of_the_script(script, tmp_path):
    """Otherwise a job that was renamed would never again be compared."""
    names = {name for name, _, _ in script["jobs"](tmp_path)}
    assert {*script["versions"]()[-1]["ratios"]} == names
    for line in script["HISTORY"].read_text("utf-8").splitlines():
        assert all(ratio > 0 for ratio in json.loads(line)["ratios"].values())
