"""What a check says of one result: a verdict, its reasons place by place, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import InputError
from diskret.outputs.profile import Profile, Verdict
from diskret.texts import words_in

#: From harmless to not harmless.
_ORDER: tuple[Verdict, ...] = ("pass", "review", "fail")


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Parameters
    ----------
    check
        Name of the check, such as ``"threshold"``; its sentence stands in the catalogue
        ``outputs`` under that name.
    verdict
        ``"review"`` or ``"fail"``; see `Profile.verdict`.
    places
        Where: cells by the labels of their rows and columns, or names of coefficients. Empty:
        the result as a whole.
    blanks
        What the sentence is filled with. Confidential.
    """

    check: str
    verdict: Verdict
    places: tuple[tuple[str, ...], ...] = ()
    blanks: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Told:
    """Sets of records whose numbers of units a result tells, and sums over them. Confidential.

    A table tells the number of each cell, a regression that of the records where a regressor of
    zeros and ones is one. `Project` looks for small differences between such sets, and for
    differences of sums in which few units have nearly everything. A result that tells several sums
    of the same sets has one `Told` for each.

    Parameters
    ----------
    sets
        Shape (records,), int32: the set that each record lies in, by number; -1: in none.
    names
        What each set is called, by number.
    rows
        Shape (records,): what each record is called in the frame that it was taken from (the
        index of pandas); None: its number.
    values
        Shape (records,): numbers whose sum over each set is told too, NaN where there is none;
        None: no sum is told.
    variable
        What these numbers are called, such as ``"turnover"``. Sums of equal values are
        compared whatever they are called.
    spread
        Shape (records,): numbers whose standard deviation in each set is told, likewise.
    way
        Of percentiles, shape (sets,): how far the percentile lies on the way from the last value
        below to the next one, over 0 to 1. Of each two sets the first is what lies below, the
        second what does not; None: the sets are not of percentiles.
    """

    sets: NDArray[np.int32]
    names: Sequence[tuple[str, ...]]
    rows: Any = None
    values: NDArray[np.float64] | None = None
    variable: str = ""
    spread: NDArray[np.float64] | None = None
    way: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.sets.ndim != 1 or (len(self.sets) and int(self.sets.max()) >= len(self.names)):
            raise InputError("sets= must hold a number of names= for each record, or -1")
        for name, own in (("values", self.values), ("spread", self.spread)):
            if own is not None and own.shape != self.sets.shape:
                raise InputError(f"{name}= must hold a number for each record, or NaN")


@dataclass(frozen=True, eq=False)
class Checked:
    """A result of a researcher and what the checks say of it.

    Parameters
    ----------
    kind
        What it is: one of `KINDS` of `diskret.outputs.profile`.
    output
        The result itself, just as pandas, Polars or statsmodels made it; or the path of a file.
    made
        The checks that were made, by name: a verdict says nothing of any other.
    findings
        What they found; nothing: the result passes.
    profile
        The rules it was judged by.
    told
        What it tells of sets of records. Confidential.
    made_from
        The variables that it is made from, by name, for each record of `told`; a project
        compares them with its own. Confidential.
    name
        A name for people; "" until a project gives it one.
    command
        The call that made it, as far as it is known.
    certificate
        What is claimed of cells that are hidden; None: none is.
    hiding
        Makes the same table with unsafe cells hidden; None where that is not known. See
        `suppress`. Confidential: it knows the records.
    """

    kind: str
    output: Any
    made: tuple[str, ...]
    findings: tuple[Finding, ...]
    profile: Profile
    told: tuple[Told, ...] = ()
    made_from: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    command: str = ""
    certificate: Any = None
    hiding: Callable[[int], Checked] | None = None

    def __post_init__(self) -> None:
        if not self.made:
            raise InputError("a result that no check was made on cannot pass; say `unknown`")
        verdict = self.profile.verdict("forbidden")
        said = any(finding.check == "forbidden" for finding in self.findings)
        if self.kind in self.profile.forbidden and not said and verdict != "pass":
            found = (*self.findings, Finding("forbidden", verdict))
            object.__setattr__(self, "findings", found)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all findings; ``"pass"`` if nothing was found."""
        return worst([finding.verdict for finding in self.findings])

    def suppress(self, *, decimals: int = 2) -> Checked:
        """The same table with its unsafe cells hidden, together with enough others.

        For tables of counts or of sums that pandas makes, of any number of variables. Cells are
        hidden and proven as of `diskret.suppress`, against contributors who know what is theirs
        and against whoever subtracts: what is left of a total must not be of few, either. Totals
        count as known whether they are shown or not, unless they have to be hidden themselves. What
        hiding does not answer is judged as before: group disclosure, zeros, missing and negative
        values. A result of a `Project` is attacked once more beside all that has left.

        Parameters
        ----------
        decimals
            Decimals that the values of a sum are rounded to before they are added up.

        Raises
        ------
        InputError
            It is no such table, or does not show what its records have.
        ProtectionError
            As of `diskret.suppress`.

        Sources
        -------
        Hundepool et al. (2012), Statistical Disclosure Control, chapter 4.

        Examples
        --------
        >>> import pandas as pd
        >>> from diskret.outputs import groupby
        >>> towns = 3 * ["A"] + 20 * ["B"] + 30 * ["C"] + 5 * ["D"]  # 8 in A and D together
        >>> found = groupby(pd.DataFrame({"town": towns}), "town").suppress()
        >>> found.verdict, [int(one) for one in found.output.dropna()]
        ('pass', [30])
        """
        if self.certificate is not None:
            raise InputError("the unsafe cells of this table are hidden already")
        if self.hiding is None:
            raise InputError(
                "cells can be hidden in a table of counts or of sums, one at a time, that pandas "
                "makes with crosstab, pivot_table or groupby; of means and shares, hide cells in "
                "the table of sums and in that of counts, and divide what both show"
            )
        return self.hiding(decimals)

    def reasons(self, language: str = "en") -> list[str]:
        """A sentence for each finding, in the words of the profile if it has its own."""
        return [_sentence(finding, self.profile, language) for finding in self.findings]

    def summary(self, language: str = "en") -> str:
        """The verdict, its reasons, and the checks that were made, to print."""
        words = words_in(language, "outputs")
        title = words.said(f"verdict.{self.verdict}", kind=words[f"kind.{self.kind}"])
        made = words.said("made", checks=", ".join(words[f"short.{one}"] for one in self.made))
        return "\n".join([title, *(f"- {one}" for one in self.reasons(language)), made])

    def __str__(self) -> str:
        return self.summary()


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The worst of some verdicts; ``"pass"`` of none.

    >>> worst(["pass", "fail", "review"])
    'fail'
    """
    return _ORDER[max(map(_ORDER.index, verdicts), default=0)]


def merged(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """One finding a check with all places, without those that pass."""
    places: dict[str, dict[tuple[str, ...], None]] = {}
    first: dict[str, Finding] = {}
    for one in found:
        if one.verdict != "pass":
            first.setdefault(one.check, one)
            places.setdefault(one.check, {}).update(dict.fromkeys(one.places))
    return tuple(
        Finding(check, one.verdict, tuple(places[check]), one.blanks)
        for check, one in first.items()
    )


def _sentence(finding: Finding, profile: Profile, language: str) -> str:
    words = words_in(language, "outputs")
    where = ""
    if finding.places:
        first = "; ".join(", ".join(place) for place in finding.places[:_SHOWN])
        more = len(finding.places) - _SHOWN
        where = words.said("where", places=first)
        if more > 0:
            where = words.said("where and more", places=first, more=more)
    own = profile.wording.get(finding.check, {}).get(language)
    return (own or words.said(f"reason.{finding.check}", **finding.blanks)) + where


_SHOWN = 5
