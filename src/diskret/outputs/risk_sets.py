"""Who is at risk at the events of a Cox model, and how much each record determines there.

Only comparisons within a risk set count: the equations of the model sum, over events, what the
regressors of the record with the event have beyond the mean of all that are at risk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RiskSets:
    """The risk sets of a fitted model.

    Parameters
    ----------
    x
        Shape (records, regressors).
    time, entry
        Shape (records,): until when and from when on a record is at risk.
    event
        Shape (records,): whether the event happened then.
    stratum
        Shape (records,): within which records are compared, by number.
    risk
        Shape (records,): the relative hazard, positive.
    """

    x: Numbers
    time: Numbers
    entry: Numbers
    event: NDArray[np.bool_]
    stratum: NDArray[np.int32]
    risk: Numbers

    @classmethod
    def of(cls, results: Any) -> RiskSets:
        """Those of a fitted `PHReg` of statsmodels."""
        model = results.model
        x = np.asarray(model.exog, np.float64)
        line = x @ np.asarray(results.params, np.float64)
        if model.offset is not None:
            line = line + np.asarray(model.offset, np.float64)
        time = np.asarray(model.endog, np.float64)
        entry = model.entry
        entered = np.full(len(x), -np.inf) if entry is None else np.asarray(entry, np.float64)
        stratum = np.zeros(len(x), np.int32)
        if model.strata is not None:
            found = np.unique(np.asarray(model.strata), return_inverse=True)[1]
            stratum = found.reshape(-1).astype(np.int32)
        event = np.asarray(model.status) == 1
        most = np.full(int(stratum.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(most, stratum, line)
        return cls(x, time, entered, event, stratum, np.exp(np.maximum(line - most[stratum], -300)))

    @cached_property
    def expected(self) -> Numbers:
        """Shape (records,): the events that are expected of each record; zero: it tells nothing."""
        found = np.zeros(len(self.x))
        for one in self._strata:
            found[one.rows] = self.risk[one.rows] * one.over_time(one.hazard)
        return found

    def few(
        self, units: NDArray[np.int32] | None, threshold: int, share: float
    ) -> NDArray[np.bool_]:
        """Shape (regressors,): whether fewer than the threshold's units determine the coefficient.

        The information on a coefficient is a sum over risk sets and records: the variance of its
        regressor, beyond the others, among those at risk. Where so few have `share` of it, they
        determine it; so they do where there is none at all.
        """
        beyond = self.x @ np.linalg.pinv(self.information, hermitian=True)
        few = np.zeros(self.x.shape[1], bool)
        for at, column in enumerate(beyond.T):
            weight = self._variance(column)
            weight = weight if units is None else np.bincount(units, weight)
            largest = np.sort(weight)[::-1][: threshold - 1].sum()
            few[at] = largest >= share * weight.sum()
        return few

    def comparisons(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of records that are at risk when the second has the event: up to three of each."""
        pairs: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
        for one in self._strata:
            there = np.flatnonzero(one.first < one.last)
            first, last = one.first[there], one.last[there] - 1
            for at in (last, (first + last) // 2, first):
                pairs.append((one.rows[there], one.happened[at]))
        whole, others = (np.concatenate([pair[at] for pair in pairs]) for at in (0, 1))
        return whole[whole != others], others[whole != others]

    @cached_property
    def _strata(self) -> list[_Stratum]:
        order = np.argsort(self.stratum, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.stratum[order])) + 1)
        return [_Stratum.of(self, rows) for rows in parts if self.event[rows].any()]

    @cached_property
    def information(self) -> Numbers:
        """The matrix of information, as of Breslow."""
        whole = (self.x * self.expected[:, None]).T @ self.x
        for one in self._strata:
            means = one.mean(self.x[one.rows] * self.risk[one.rows, None])
            whole -= (means * one.events[:, None]).T @ means
        return whole

    def _variance(self, column: Numbers) -> Numbers:
        """What each record has of the variance within the risk sets."""
        found = np.zeros(len(column))
        for one in self._strata:
            own, risk = column[one.rows], self.risk[one.rows]
            own = own - own.mean()  # fewer digits are lost
            mean = one.mean((own * risk)[:, None])[:, 0]
            sums = [one.over_time(one.hazard * part) for part in (1.0, mean, mean**2)]
            found[one.rows] = risk * (own**2 * sums[0] - 2 * own * sums[1] + sums[2])
        return np.maximum(found, 0)


@dataclass(frozen=True, eq=False)
class _Stratum:
    """The events of one stratum.

    `rows`: its records; `events`: how many there are at each time; `first`, `last`: of each record,
    the first event at which it is at risk and the first one at which it is not any more; `risks`:
    the sum of risks at each event; `happened`: a record with the event at each time.
    """

    rows: NDArray[np.intp]
    events: Numbers
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    risks: Numbers
    happened: NDArray[np.intp]

    @classmethod
    def of(cls, sets: RiskSets, rows: NDArray[np.intp]) -> _Stratum:
        happened = rows[sets.event[rows]]
        times, begin, events = np.unique(sets.time[happened], return_index=True, return_counts=True)
        first = np.searchsorted(times, sets.entry[rows], side="left")
        last = np.searchsorted(times, sets.time[rows], side="right")
        own = cls(rows, events.astype(np.float64), first, last, np.zeros(0), happened[begin])
        risks = own.at_risk(sets.risk[rows, None])[:, 0]
        at = np.searchsorted(times, sets.time[happened])
        least = np.bincount(at, sets.risk[happened], len(times))  # these are at risk themselves
        return replace(own, risks=np.maximum(risks, least))

    @property
    def hazard(self) -> Numbers:
        return self.events / self.risks

    def at_risk(self, values: Numbers) -> Numbers:
        """Shape (times, columns): sums over those who are at risk at each event."""
        number = len(self.events) + 1
        found = np.zeros((number, values.shape[1]))
        for at, column in enumerate(values.T):
            stays = np.bincount(self.last, column, number)
            found[:, at] = stays[::-1].cumsum()[::-1]
            if self.first.any():  # those who come later
                comes = np.bincount(np.minimum(self.first, self.last), column, number)
                found[:, at] -= comes[::-1].cumsum()[::-1]
        return found[1:]

    def mean(self, weighted: Numbers) -> Numbers:
        """Shape (times, columns): means of those who are at risk."""
        return self.at_risk(weighted) / self.risks[:, None]

    def over_time(self, values: Numbers) -> Numbers:
        """Shape (records,): the sum of something over the events at which each is at risk."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return sums[np.maximum(self.last, self.first)] - sums[self.first]


def deviating(
    column: Numbers, stratum: NDArray[np.int32], units: NDArray[np.int32] | None
) -> NDArray[np.bool_]:
    """Shape (records,): who has another value than most units of its stratum.

    Without these records the variable would be the same for all within each stratum, and tell
    nothing.
    """
    values, code = np.unique(column, return_inverse=True)
    pair = stratum.astype(np.int64) * len(values) + code.reshape(-1)
    kinds, place = np.unique(pair, return_inverse=True)
    place = place.reshape(-1)
    if units is None:
        counts = np.bincount(place)
    else:
        width = int(units.max()) + 1
        counts = np.bincount(np.unique(place * width + units) // width, minlength=len(kinds))
    whose = kinds // len(values)
    order = np.lexsort((counts, whose))
    usual = np.zeros(len(kinds), bool)
    usual[order[np.append(np.diff(whose[order]) > 0, True)]] = True
    return ~usual[place]
