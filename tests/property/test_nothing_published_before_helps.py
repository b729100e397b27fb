"""Random sequences of releases: what was published before undoes no protection, old or new.

The attacker below knows nothing of the package's equations: its unknowns are the records'
finest combinations, and every published cell of every release is a sum of them.
"""

from dataclasses import replace

import finest_combinations as finest
import numpy as np
from finest_combinations import ATOMS, ends, linked_table, sums_of_atoms
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.attack.all_cells import all_cells
from diskret.errors import ProofError, ProtectionError
from diskret.ledger.check import check
from diskret.protect.plan import publish
from diskret.tables import Earlier, Publication


class Before:
    """A ledger that forgets nothing and stores nothing."""

    def __init__(self):
        self.entries = []

    @property
    def position(self):
        return str(len(self.entries))

    def earlier(self, tables, sums=()):
        return self.entries

    def publish(self, name, result):
        known = result.table.measure.sum, result.certificate.requirements
        self.entries.append(Earlier(name, result.published, *known))


@st.composite
def records(draw):
    sizes = st.sampled_from([0, 0, 0, 1, 1, 2, 6])
    return np.array(draw(st.lists(sizes, min_size=len(ATOMS), max_size=len(ATOMS))))


@st.composite
def release(draw):
    """How to make one table, and its vintage."""
    return *draw(linked_table()), draw(st.sampled_from(["", "", "revised"]))


def made(count, by, groups, where, vintage):
    return replace(finest.made(count + (vintage != ""), by, groups, where), vintage=vintage)


def unprotected(rows, value, hidden, cell):
    """Whether a count can be narrowed down to less than itself and one more on both sides."""
    low, high = ends(rows, value, hidden, cell)
    return low > max(value[cell] - 1, 0) or high < value[cell] + 1


@examples(60)
@given(records(), st.lists(release(), min_size=2, max_size=4))
def test_every_primary_of_every_release_stays_protected(count, releases):
    before, published = Before(), []
    for number, how in enumerate(releases):
        table = made(count, *how)
        try:
            result = dk.suppress(table, dk.rules.MinimumFrequency(3), ledger=before)
        except (ProtectionError, ProofError):
            continue  # nothing is published then
        if not all_cells(result.certificate.proof.publication).complete:
            return  # not all is claimed of what three filters say together, and this is said
        before.publish(f"release {number}", result)
        published.append(result)
        for vintage in {r.table.vintage for r in published}:
            alike = [r for r in published if r.table.vintage == vintage]
            rows = sums_of_atoms([r.table for r in alike])
            value = rows @ (count + (vintage != ""))
            hidden = np.concatenate([r.published.suppressed.ravel() for r in alike])
            primary = np.concatenate([r.status.ravel() == "primary" for r in alike])
            for cell in np.flatnonzero(primary):
                assert not unprotected(rows, value, hidden, cell)


@examples(60)
@given(records(), st.lists(release(), min_size=1, max_size=2), release())
def test_check_breaks_what_can_be_computed_and_names_an_irreducible_set(count, releases, new):
    before, published = Before(), []
    for number, (by, groups, where, _) in enumerate(releases):
        table = made(count, by, groups, where, "")
        try:
            result = dk.suppress(table, dk.rules.MinimumFrequency(3), ledger=before)
        except (ProtectionError, ProofError):
            continue
        before.publish(f"release {number}", result)
        published.append(result)
    by, groups, where, _ = new
    table = made(count, by, groups, where, "")
    shown = [*(e.published for e in before.entries), publish(table, table.count < 0, "new")]
    assume(all_cells(Publication(tuple(shown))).complete)
    names = [entry.release for entry in before.entries]
    report = check(table, before.entries)

    rows = sums_of_atoms([*(r.table for r in published), table])
    value = rows @ count
    earlier = [r.published.suppressed.ravel() for r in published]
    hidden = np.concatenate([*earlier, np.zeros(table.count.size, dtype=bool)])
    primary = np.concatenate([*(r.status.ravel() == "primary" for r in published), []])
    broken = {cell for cell in np.flatnonzero(primary) if unprotected(rows, value, hidden, cell)}
    named = {
        _position(published, table, (cell.release, cell.codes), names): cell
        for cell in report.broken
        if cell.primary
    }
    assert set(named) == broken
    assert report.ok == (not report.broken)
    first = len(hidden) - table.count.size
    for cell, told in named.items():
        own = [_position(published, table, ("", codes), names) for _, codes in told.blamed]
        assert own and min(own) >= first
        for published_now in (own, *([o for o in own if o != one] for one in own)):
            hide = hidden.copy()
            hide[first:] = True
            hide[published_now] = False
            assert unprotected(rows, value, hide, cell) == (published_now is own)


def _position(published, table, cell, names):
    """Where a cell stands among all tables."""
    release, codes = cell
    start = 0
    for number, one in enumerate([*(r.table for r in published), table]):
        last = number == len(published)
        if (last and not release) or (not last and release == names[number]):
            where = dict(part.split("=") for part in codes.split(", "))
            at = tuple(d.hierarchy.position[where[d.name]] for d in one.dimensions)
            return start + int(np.ravel_multi_index(at, one.shape))
        start += one.count.size
    raise AssertionError(cell)
