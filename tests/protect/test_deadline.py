"""One deadline: what is not finished by then falls back to something proven, or nothing leaves."""

import json
import sys
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from sealing import reseal

import diskret as dk
from diskret import parallel
from diskret.attack import component, examine, targets_of, unmet
from diskret.cli.command import Language
from diskret.cli.show import show_results
from diskret.deadline import NEVER, Deadline, OutOfTime
from diskret.errors import ProtectionError, VerificationError
from diskret.protect import prove
from diskret.protect.insiders import InsiderJudge
from diskret.publish.verify.folder import verify
from diskret.suppression import Pattern, sequential
from diskret.texts.messages import translated

RULE = dk.rules.MinimumFrequency(4)
BUSINESS = dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3)


class Clock:
    """Time that passes when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def when(self, task: str, now: float):
        """A callback that sets the time once a stage has ended."""

        def told(name: str, done: int, total: int) -> None:
            if name == task and done == total:
                self.now = max(self.now, now)

        return told


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def counts(seed: int = 1, shape: tuple[int, ...] = (5, 6)) -> dk.Table:
    value = np.random.default_rng(seed).integers(0, 12, shape)
    codes = np.indices(shape).reshape(len(shape), -1)
    columns = {f"v{k}": [f"{'abc'[k]}{i}" for i in of] for k, of in enumerate(codes.tolist())}
    cells = pa.table({**columns, "n": value.ravel()})
    return dk.Table.from_cells(cells, by=dict.fromkeys(columns), count="n")


@pytest.fixture(scope="module")
def firms() -> dk.Table:
    register = dk.datasets.business_register(2_000, seed=3)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")
    return table.recode("nace", level=1)


def proven(result: dk.Result) -> bool:
    """Whether the witnesses alone show what is required."""
    proof = result.proof
    hidden = proof.examination.cell
    low, high = proof.examination.witness_lower, proof.examination.witness_upper
    at = np.searchsorted(hidden, proof.requirements.cell)
    value = proof.original[proof.requirements.cell]
    enough = (low[at] <= value - proof.requirements.lower).all()
    enough &= (high[at] >= value + proof.requirements.upper).all()
    return bool(enough and (high - low >= 1).all())


# ── nothing passes that was not proven ─────────────────────────────────────────────


@pytest.mark.parametrize("told", ["nothing", "lies"])
def test_a_proof_cut_short_never_certifies(clock: Clock, told: str):
    """The pattern is safe, but time is up before anything shows that."""

    def late(problem):
        pattern = sequential(replace(problem, deadline=NEVER))
        clock.now = 1e6
        assert pattern.proposals is not None
        difference = pattern.proposals.difference.copy()
        difference.data += 1
        lies = replace(pattern.proposals, difference=difference)
        return replace(pattern, proposals=lies if told == "lies" else None)

    table = counts()
    assert proven(dk.suppress(table, RULE, method=sequential))
    said = r"could not be proven in time \(of 1 s the pattern took 1000000.0, the proof 0.0\)"
    with pytest.raises(ProtectionError, match=said) as refused:
        dk.suppress(table, RULE, method=late, time_limit=1)
    assert "(von 1 s entfielen" in translated(str(refused.value), "de")


def test_an_unsafe_pattern_is_repaired_or_refused_when_time_is_up(clock: Clock):
    def unsafe(problem):
        clock.now = 1e6
        hidden = np.zeros(len(problem.cost), dtype=bool)
        hidden[problem.requirements.cell] = True
        return Pattern(hidden, "primaries alone")

    with pytest.raises(ProtectionError, match="could not be proven in time"):
        dk.suppress(counts(), RULE, method=unsafe, time_limit=1)


@pytest.mark.parametrize("method", ["auto", "sequential", "modular", "optimal", "hypercube"])
@pytest.mark.parametrize("seed", range(4))
def test_a_limit_that_is_over_at_once_still_gives_a_proven_result(
    clock: Clock, method: str, seed: int
):
    """Cubes are found without a programme, and show what they protect."""

    def over(task: str, done: int, total: int) -> None:
        clock.now = 1e6

    table = counts(seed, (4, 5, 4))
    result = dk.suppress(table, RULE, method=method, time_limit=1, progress=over)
    assert proven(result)
    claims = targets_of(result.published, table.measure.sum, result.proof.requirements)
    assert not unmet(result.proof.examination, claims).any()
    assert result.settings.get("cut_short", False) is (result.bound is None)


def test_the_search_gets_half_of_the_time_and_less_against_contributors(clock: Clock):
    """The clock stands still."""
    shares: list[float] = []

    def noted(problem):
        shares.append(problem.deadline.seconds() / problem.deadline.whole.seconds())
        return sequential(problem)

    columns = {
        "a": ["a0", "a0", "a1"] * 9,
        "b": ["b0", "b1", "b2"] * 9,
        "c": ["c0", "c1", "c2"] * 9,
    }
    one, other = (dk.tabulate(pa.table(columns), by=dict.fromkeys(names)) for names in ("ab", "ac"))
    dk.suppress(one, RULE, method=noted, time_limit=100)
    dk.suppress([one, other], RULE, method=noted, time_limit=100)
    dk.suppress(one, RULE, method=noted, time_limit=100, attacker=dk.Attacker(contributor=True))
    assert shares == pytest.approx([0.5, 0.5, 0.2])


def test_the_terminal_says_that_more_time_may_hide_less(clock: Clock, capsys, tmp_path):
    cut = dk.suppress(
        counts(), RULE, method="modular", time_limit=1, progress=late_after(clock, "suppress")
    )
    whole = dk.suppress(counts(), RULE, method="modular")
    for result, says in ((cut, True), (whole, False)):
        (tmp_path / "public").mkdir(exist_ok=True)
        show_results([result], tmp_path, Language.en)
        assert ("For the office: time or budget ended" in capsys.readouterr().out) is says
    folder = cut.write(tmp_path / "out", ["csv", "html"], keys=tmp_path / "keys")
    assert verify(folder, keys=tmp_path / "keys").checked_internal
    told = [
        path for path in folder.rglob("*") if path.is_file() and b"cut_short" in path.read_bytes()
    ]
    assert {path.parent.name for path in told} == {"internal"}


def test_what_takes_long_to_judge_is_a_stage_of_its_own(monkeypatch: pytest.MonkeyPatch):
    told: list[tuple[str, int, int]] = []
    monkeypatch.setattr(parallel, "meanwhile", lambda work, waiting: (waiting(), work())[1])
    asked = partial(dk.suppress, counts(), RULE, progress=lambda *step: told.append(step))
    asked(attacker=dk.Attacker())
    assert ("judge sums", 0, 1) not in told
    asked(attacker=dk.Attacker(contributor=True))
    assert told.count(("judge sums", 0, 1)) == told.count(("judge sums", 1, 1)) > 0
    assert {translated(task, "de") for task, _, _ in told}.isdisjoint(task for task, _, _ in told)


@pytest.mark.parametrize("budget", [None, 1])
def test_a_first_pattern_stands_for_one_that_is_not_found_in_time(clock: Clock, budget: int | None):
    """A budget alone says what was to be done: what stands for it would be another pattern."""
    late = budget is None

    def nothing(problem):
        clock.now += problem.deadline.seconds() if late else 0
        raise OutOfTime("no pattern in time")

    asked = partial(dk.suppress, counts(), RULE, method=nothing, budget=budget)
    contributor = dk.Attacker(contributor=True)
    if not late:
        with pytest.raises(OutOfTime, match="no pattern in time"):
            asked(attacker=contributor)
        return
    assert proven(asked(attacker=contributor, time_limit=100))
    with pytest.raises(OutOfTime, match="no pattern in time"):
        asked(attacker=dk.Attacker(), time_limit=100)


@pytest.mark.parametrize("seconds", [0, 15])
def test_a_pattern_is_not_tidied_again_where_attacks_take_long(
    clock: Clock, seconds: int, monkeypatch: pytest.MonkeyPatch
):
    grown, attack = prove.extended, InsiderJudge.attack
    kept: list[bool] = []

    def noted(problem, pattern, keep):
        kept.append(keep)
        return grown(problem, pattern, keep)

    def slow(*given, **how):
        clock.now += seconds
        return attack(*given, **how)

    monkeypatch.setattr(prove, "extended", noted)
    monkeypatch.setattr(InsiderJudge, "attack", slow)
    whom = dk.Attacker(contributor=True)
    table = counts(6, (4, 4, 3))
    assert proven(dk.suppress(table, RULE, method="modular", attacker=whom, time_limit=100))
    assert kept == [seconds > 0]


# ── what is only told gives way ─────────────────────────────────────────────────────


def late_after(clock: Clock, task: str):
    return clock.when(task, 1e6)


@pytest.fixture
def hurried(firms: dk.Table, clock: Clock) -> dk.Result:
    """Time is up once the pattern stands."""
    return dk.suppress(
        firms,
        BUSINESS,
        attacker=dk.Attacker(),
        time_limit=1,
        progress=late_after(clock, "suppress"),
    )


def test_intervals_that_were_not_finished_are_what_single_equations_say(
    hurried: dk.Result, firms: dk.Table
):
    assert proven(hurried)
    examination = hurried.proof.examination
    assert examination.quick and 0 < examination.outer
    calm = dk.suppress(
        firms,
        BUSINESS,
        attacker=dk.Attacker(),
        method=lambda _: Pattern(hurried.published.suppressed.ravel(), "the same"),
    ).proof.examination
    assert np.array_equal(calm.cell, examination.cell) and calm.outer == 0
    assert (examination.lower <= calm.lower + 1e-6).all()
    assert (examination.upper >= calm.upper - 1e-6).all()


def test_windows_of_a_large_part_keep_the_deadline(clock: Clock, monkeypatch: pytest.MonkeyPatch):
    """Intervals are there in time, tables that show them are not: single equations stand."""
    table = counts()
    result = dk.suppress(table, RULE, attacker=dk.Attacker())
    claims = targets_of(result.published, table.measure.sum, result.proof.requirements)
    monkeypatch.setattr(component, "EXACT_WORK", 0.0)
    show, ends = component.show, list[Deadline]()

    def late(*given):
        ends.append(given[-1])
        clock.now = 2.0
        return show(*given)

    monkeypatch.setattr(component, "show", late)
    deadline = Deadline(1.0)
    found = examine(
        result.published, dk.Attacker(), claims, original=table.measure.sum, deadline=deadline
    )
    assert found.quick and set(ends) == {deadline}


def certificate(folder, side="public"):
    return json.loads((folder / side / "turnover.certificate.json").read_text(encoding="utf-8"))


def test_the_certificate_says_so_and_is_verified(hurried: dk.Result, tmp_path, monkeypatch):
    folder = hurried.write(tmp_path / "out", ["csv", "html"], keys=tmp_path / "keys")
    assert verify(folder, keys=tmp_path / "keys").checked_internal
    content = certificate(folder)
    assert content["single_equations"] and certificate(folder, "internal")["single_equations"]
    assert any("as time was limited" in line for line in content["claimed"]["en"])
    assert any("Zeit begrenzt" in line for line in content["claimed"]["de"])
    for change in ({"single_equations": False}, {"outer_intervals": 1}):
        path = folder / "public" / "turnover.certificate.json"
        path.write_text(json.dumps(content | change), encoding="utf-8")
        reseal(folder, tmp_path / "keys")
        with pytest.raises(VerificationError):
            verify(folder, keys=tmp_path / "keys")


def test_without_a_limit_nothing_is_told_to_the_attack(firms: dk.Table, monkeypatch):
    monkeypatch.setattr(component, "shown_in_time", None)
    result = dk.suppress(firms, BUSINESS, attacker=dk.Attacker())
    assert not result.proof.examination.quick and proven(result)


def test_reasons_that_are_not_found_in_time_are_not_examined(clock: Clock):
    result = dk.suppress(counts(0, (4, 5, 4)), RULE)

    def over(task: str, done: int, total: int) -> None:
        clock.now = 1e6

    found = result.explanations(progress=Deadline(1.0).watched(over))
    calm = result.explanations()
    assert calm.not_examined == 0 < found.not_examined
    first = {s for s, kind in zip(found.secondary, found.kind, strict=True) if kind in calm.kind}
    assert first and set(found.secondary) == set(calm.secondary)


def test_reasons_that_take_too_long_to_begin_with_are_not_examined(monkeypatch):
    """Whoever waits for the equations is told so, and ends it there."""
    module = sys.modules["diskret.attack.explain"]
    monkeypatch.setattr(module, "meanwhile", lambda work, waiting: (waiting(), work())[1])
    result = dk.suppress(counts(0, (4, 5, 4)), RULE)
    told: list[tuple[str, int, int]] = []
    rows = result.explain(progress=lambda *step: told.append(step)).num_rows
    late = result.explain(time_limit=-1).to_pylist()
    assert told[0] == ("explain", 0, told[-1][2]) and told[-1][1] == told[-1][2] <= rows
    assert [row["kind"] for row in late] == ["not examined"] * told[-1][2]


# ── totals that were rounded on their own ──────────────────────────────────────────


def rounded(shape: tuple[int, ...], seed: int) -> dk.Table:
    """Sums in tenths, each rounded from the exact one, so that totals miss their parts."""
    rng = np.random.default_rng(seed)
    cells = np.exp(rng.normal(2, 1.5, shape))
    share = rng.uniform(0.4, 1, shape)
    codes = [[f"{'abc'[k]}{i}" for i in range(n)] + ["Total"] for k, n in enumerate(shape)]
    value, first = cells, cells * share
    for axis in range(len(shape)):
        value = np.concatenate([value, value.sum(axis, keepdims=True)], axis)
        first = np.concatenate([first, first.max(axis, keepdims=True)], axis)
    at = np.indices(value.shape).reshape(len(shape), -1)
    columns = {f"v{k}": [codes[k][i] for i in of] for k, of in enumerate(at.tolist())}
    largest = np.floor(first.ravel() * 10 - 1).clip(0) / 10
    frame = pa.table({**columns, "v": value.ravel().round(1), "largest": largest.round(1)})
    return dk.Table.from_cells(
        frame,
        by=dict.fromkeys(columns),
        total="Total",
        value="v",
        largest=["largest"],
        decimals=1,
        rounding=0.1,
    )


@pytest.mark.parametrize("method", ["auto", "sequential", "hypercube"])
@pytest.mark.parametrize(("shape", "seed"), [((3,), 1), ((5, 4), 2), ((7, 6), 3)])
def test_totals_that_miss_their_parts(shape: tuple[int, ...], seed: int, method: str):
    """There the original values are no table to begin with; a limit hides no more for that."""
    table = rounded(shape, seed)
    rule = dk.rules.Dominance(1, 90)
    ample = dk.suppress(table, rule, method=method, time_limit=600)
    unlimited = dk.suppress(table, rule, method=method)
    secondaries, others = (
        table.measure.sum[result.status == "secondary"].sum() for result in (ample, unlimited)
    )
    assert secondaries <= others * 1.0001  # the cheapest is proven up to so much
    assert 0 < unlimited.published.suppressed.sum() < unlimited.published.suppressed.size


def test_large_parts_of_totals_that_miss_their_parts(monkeypatch: pytest.MonkeyPatch):
    """Too large for all intervals: some table near the values is the one to begin with."""
    monkeypatch.setattr(component, "EXACT_WORK", 0.0)
    table = rounded((5, 4), 2)
    result = dk.suppress(table, dk.rules.Dominance(1, 90), method="hypercube", time_limit=600)
    assert proven(result) and not result.published.suppressed.all()
