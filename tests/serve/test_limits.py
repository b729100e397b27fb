"""How often somebody may come."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.serve import limits
from diskret.serve.limits import Failures, Rate, network_of


@examples(60)
@given(
    each_second=st.floats(0.1, 50),
    at_once=st.integers(1, 20),
    pauses=st.lists(st.floats(0, 3), max_size=80),
)
def test_nobody_comes_more_often_than_said(each_second, at_once, pauses):
    rate, now, through = Rate(each_second, at_once), 0.0, []
    for pause in pauses:
        now += pause
        wait = rate.take("anne", now)
        assert wait >= 0
        if wait == 0:
            through.append(now)
        else:  # as long as it says, and no longer
            assert Rate.take(rate, "anne", now + wait * 0.99) > 0 or wait < 1e-6
    for start in range(len(through)):
        for end in range(start, len(through)):
            most = at_once + (through[end] - through[start]) * each_second
            assert end - start + 1 <= most + 1e-6


def test_one_does_not_wait_for_another():
    rate = Rate(1, 1)
    assert rate.take("anne", 0) == 0 and rate.take("bob", 0) == 0
    assert rate.take("anne", 0) > 0


@pytest.mark.parametrize("made", [lambda: Rate(1, 1), lambda: Failures(1)])
def test_however_many_come_memory_is_bounded(monkeypatch, made):
    monkeypatch.setattr(limits, "_MOST", 100)
    limit = made()
    for at in range(1000):
        limit.take(f"10.0.{at // 250}.{at % 250}", 0)
    assert len(limit) == 100
    for at in range(1000):
        limit.take(f"{at:x}" * 1000, 0)  # no address: all are one
    assert len(limit) == 100


def test_who_came_last_is_remembered(monkeypatch):
    monkeypatch.setattr(limits, "_MOST", 2)
    rate = Rate(1, 1)
    for who in ("anne", "bob", "anne", "carla"):
        rate.take(who, 0)
    assert rate.take("anne", 0) > 0 and rate.take("bob", 0) == 0


@examples(60)
@given(st.lists(st.floats(-5, 5), max_size=60))
def test_a_clock_that_goes_back_gives_nothing(steps):
    rate, now, latest, through = Rate(1, 2), 100.0, 100.0, 1
    assert rate.take("anne", now) == 0
    for step in steps:
        now += step
        latest = max(latest, now)
        through += rate.take("anne", now) == 0
    assert through <= 2 + (latest - 100) + 1e-6


def test_a_clock_that_goes_back_makes_nobody_wait_longer():
    rate = Rate(1, 1)
    assert [rate.take("anne", now) for now in (10, 5, 10.5, 11)] == [0, 1, 0.5, 0]


def test_threads_together_are_let_through_as_often_as_one(monkeypatch):
    take = limits._Memory.take

    def slow(*given):  # so that another thread would come between
        found = take(*given)
        sleep(1e-4)
        return found

    monkeypatch.setattr(limits._Memory, "take", slow)
    rate, failures = Rate(1, 50), Failures(50)
    with ThreadPoolExecutor(8) as pool:
        for limit in (rate, failures):
            waits = pool.map(lambda at, limit=limit: limit.take("192.0.2.1", 0.0), range(400))
            assert sum(wait == 0 for wait in waits) == 50


# ── failures ────────────────────────────────────────────────────────────────────────


def test_waits_double_up_to_the_longest():
    failures, now, waits = Failures(at_once=3, first=5, longest=60), 0.0, []
    for _ in range(9):
        assert failures.take("192.0.2.1", now) == 0
        waits.append(failures.take("192.0.2.1", now) if len(waits) >= 2 else 0.0)
        now += waits[-1]
    assert waits == [0, 0, 5, 10, 20, 40, 60, 60, 60]


@examples(60)
@given(
    at_once=st.integers(1, 5),
    first=st.floats(0.1, 10),
    more=st.floats(1, 100),
    pauses=st.lists(st.floats(0, 30), max_size=200),
)
def test_who_fails_again_and_again_is_let_through_rarely(at_once, first, more, pauses):
    failures, now, through = Failures(at_once, first, first * more), 0.0, []
    for pause in pauses:
        now += pause
        if failures.take("192.0.2.1", now) == 0:
            through.append(now)
    # as long as there is no pause after which somebody is forgotten
    quiet = [b - a for a, b in pairwise(through)]
    held = next((at for at, gap in enumerate(quiet) if gap > first * more), len(quiet))
    for at in range(at_once - 1, held):
        wait = min(first * 2.0 ** (at - at_once + 1), first * more)
        assert quiet[at] >= wait - 1e-6


def test_who_stops_failing_is_forgotten_and_nobody_before():
    failures = Failures(at_once=1, first=5, longest=60)
    assert failures.take("192.0.2.1", 0) == 0
    assert failures.take("192.0.2.1", 5) == 0  # waits 10 seconds, until 15
    assert failures.take("192.0.2.1", 74) == 0 and failures.take("192.0.2.1", 74) == 20
    assert failures.take("192.0.2.1", 94 + 60) == 0  # forgotten
    assert failures.take("192.0.2.1", 94 + 60) == 5


def test_many_failures_do_not_overflow():
    failures, now = Failures(at_once=1, first=5, longest=60), 0.0
    for _ in range(3000):
        failures.take("192.0.2.1", now)
        now += 60
    assert failures.take("192.0.2.1", now) == 0 and failures.take("192.0.2.1", now) == 60


def test_a_network_is_one_however_many_addresses_it_has():
    failures = Failures(at_once=1)
    assert failures.take("2001:db8::1", 0) == 0
    for at in range(2, 300):
        assert failures.take(f"2001:db8::{at:x}:{at:x}", 0) > 0
    assert failures.take("2001:db8:0:1::1", 0) == 0
    assert failures.take("192.0.2.1", 0) == 0 and failures.take("::ffff:192.0.2.1", 0) > 0
    assert failures.take("192.0.2.2", 0) == 0
    assert network_of("fe80::1%eth0") == network_of("fe80::1%" + "x" * 100) == "fe80::"
    assert {network_of(text) for text in ("", "unix", "1.2.3", "01.2.3.4", "::g", "\0")} == {""}
