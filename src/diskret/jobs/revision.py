"""A revision of a period that was delivered before: attacked together with the first delivery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike

from diskret.errors import InputError, ProofError
from diskret.jobs.values import EditionJob, JobTable
from diskret.keys import SecretKeys
from diskret.keys.secret import key_file
from diskret.ledger.revisions import First, RevisionCheck, check_revision, first_delivery, unchanged
from diskret.progress import Progress, silent
from diskret.protect.plan import publish_whole
from diskret.protect.result import Result
from diskret.publish.difference import last_delivery
from diskret.tables import Published
from diskret.tables.difference import check_comparable, matched, transposed
from diskret.tables.one_measure import FEW, HALF
from diskret.texts.numbers import Count

#: How often cells are hidden for the sake of the first delivery before it is given up.
_ROUNDS = 50
_EXAMPLES = 5

Protect = Callable[[Sequence[JobTable]], list[Result]]


def protect_edition(
    edition: EditionJob,
    tables: Sequence[JobTable],
    protect: Protect,
    keys: SecretKeys | str | PathLike[str] | None,
    progress: Progress = silent,
) -> list[Result]:
    """Protect the tables of an edition; of a revision so that the first delivery stays protected.

    What a revision shows and the first delivery hides, or the other way round, tells of both where
    values have not changed. Cells are hidden until both together keep what each of them requires.

    `InputError`: the edition looks like a revision and does not say whether it is one, or the
    office's files of the first delivery are missing. `ProofError`: nothing that the revision could
    hide would protect a cell.
    """
    before = check_edition(edition, tables)
    if not edition.revision:
        return protect(tables)
    secret = (
        SecretKeys.load(keys, create=False) if keys is not None or key_file().exists() else None
    )
    first = first_delivery(edition.previous, before, secret)
    tables = [
        replace(one, known=unchanged(one.table, first[one.name])) if one.name in first else one
        for one in tables
    ]
    results = protect(tables)
    for _ in range(_ROUNDS):
        checks = [
            (
                group,
                check_revision([results[i] for i in group], first, limit=None, progress=progress),
            )
            for group in _together(results)
        ]
        _refuse([check for _, check in checks])
        hiding = _with_hidden(tables, results, first, checks)
        if hiding is None:
            return results
        tables, results = hiding, protect(hiding)
    raise ProofError(
        f"after {_ROUNDS} rounds of hiding cells the revision still tells too much beside the "
        "first delivery; nothing was written. Combine categories, or publish fewer tables"
    )


def revised(edition: EditionJob | None, names: Sequence[str]) -> set[str] | None:
    """The vintages that tables of an edition are a revision of; None: nothing is said of that."""
    if edition is None:
        return None
    if not edition.revision:
        return set()
    return {table.vintage for table in last_delivery(edition.previous, names).values()}


def check_edition(edition: EditionJob, tables: Sequence[JobTable]) -> dict[str, Published]:
    """The tables of the last delivery by name, if they can be compared with these.

    `InputError`: they cannot, or the edition looks like a revision and does not say whether it is.
    """
    before = last_delivery(edition.previous, [one.name for one in tables])
    for one in tables:
        if one.name in before:
            check_comparable(publish_whole(one.table, one.name), before[one.name])
    if edition.revision is None:
        _check_said(tables, before)
    return before


def _with_hidden(
    tables: Sequence[JobTable],
    results: Sequence[Result],
    first: Mapping[str, First],
    checks: Sequence[tuple[Sequence[int], RevisionCheck]],
) -> list[JobTable] | None:
    """The tables with more cells to hide; None: nothing is missing."""
    found = list(tables)
    some = False
    for group, check in checks:
        own = [i for i in group if results[i].name in first]
        if not any(len(cells) for cells in check.to_hide):
            continue
        some = True
        for i in group:  # the pattern of tables that are protected together is given for all
            found[i] = replace(found[i], hidden=results[i].published.suppressed.copy())
        for i, cells in zip(own, check.to_hide, strict=True):
            hidden = results[i].published.suppressed.copy()
            hidden.ravel()[cells] = True
            found[i] = replace(found[i], hidden=hidden)
    return found if some else None


def _together(results: Sequence[Result]) -> list[list[int]]:
    """Positions of results that were protected together."""
    groups: dict[int, list[int]] = {}
    for i, result in enumerate(results):
        groups.setdefault(id(result.proof), []).append(i)
    return list(groups.values())


def _refuse(checks: Sequence[RevisionCheck]) -> None:
    """Refuse what nothing can protect any more."""
    hopeless = [cell for check in checks for cell in check.hopeless]
    if hopeless:
        where = "; ".join(
            f"{cell.codes} in {cell.table}" + (" of the first delivery" if cell.release else "")
            for cell in hopeless[:_EXAMPLES]
        )
        number = Count(len(hopeless))
        raise ProofError(
            f"{number} {number:cell|cells} would be known from the first delivery and this "
            f"revision together, whatever else is hidden: {where}. Nothing was written. What the "
            "first delivery shows and nobody revised is public: set such cells to safe with "
            "'apriori' and that reason, or combine categories"
        )


def _check_said(tables: Sequence[JobTable], before: Mapping[str, Published]) -> None:
    """Refuse what looks like a revision and does not say whether it is one."""
    for one in tables:
        if one.name not in before:
            continue
        shown = publish_whole(one.table, one.name)
        then = transposed(before[one.name], shown)
        at = matched(shown, then)
        now, old = one.table.measure.sum.ravel(), then.value.ravel()[at]
        both = (at >= 0) & ~then.suppressed.ravel()[at] & (now != 0) & (old != 0)
        same = int((both & (now == old)).sum())
        if both.sum() >= FEW and same >= HALF * both.sum():
            raise InputError(
                f"table {one.name!r}: {same:,} of {int(both.sum()):,} values {Count(same):is|are} "
                "those of the last delivery, as in a revision of the same period. Say revision = "
                "true in [edition], so that both are attacked together, or revision = false if "
                "this is another period"
            )
