"""Whatever stage takes long, who waits hears of it: here stages end only once they were told."""

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret import parallel

#: Seconds after which a slow stage gives up.
LONG = 20.0
#: The stage, in what it is needed, and from which count on a cell is safe.
SLOW = [
    ("diskret.attack.attack_equations.reduce", "sequential", 6),
    ("diskret.attack.attack_equations.put_together", "sequential", 6),
    ("diskret.attack.component.packed", "sequential", 6),
    ("diskret.suppression.certify._show", "sequential", 6),
    ("diskret.suppression.zero_one_program.Master.relaxed", "optimal", 6),
    ("diskret.suppression.zero_one_program.Master.whole", "optimal", 5),
    ("diskret.suppression.attack_cuts.Attacks.of_fractions", "optimal", 6),
    ("diskret.suppression.optimal_search.Closing._judge", "optimal", 6),
]


def table() -> dk.Table:
    draw = np.random.default_rng(4)
    codes = {name: [f"{name}{i}" for i in draw.integers(0, 4, 300)] for name in ("x", "y", "z")}
    return dk.tabulate(pa.table(codes), by={"x": None, "y": None, "z": None})


@pytest.mark.long
@pytest.mark.parametrize(("stage", "method", "least"), SLOW)
def test_progress_goes_on_while_a_stage_takes_long(
    stage: str, method: str, least: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(parallel, "_PATIENCE", 0.01)
    told = threading.Condition()
    calls, slow, heard = [0], [0], [True]
    module, _, name = stage.rpartition(".")
    owner: Any = _found(module)
    work = getattr(owner, name)

    def slowly(*args: Any, **options: Any) -> Any:
        slow[0] += 1
        if slow[0] <= 2:
            with told:
                enough = calls[0] + 3
                heard[0] &= told.wait_for(lambda: calls[0] >= enough, LONG)
        return work(*args, **options)

    def progress(task: str, done: int, total: int) -> None:
        with told:
            calls[0] += 1
            told.notify_all()

    monkeypatch.setattr(owner, name, slowly)
    dk.suppress(
        table(),
        dk.rules.MinimumFrequency(least),
        method=method,
        attacker=dk.Attacker(),
        progress=progress,
    )
    assert slow[0] > 0
    assert heard[0]


def _found(path: str) -> Any:
    """A module, or a class in one."""
    from importlib import import_module

    try:
        return import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(import_module(module), name)
