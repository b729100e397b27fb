"""Figures of a synthetic file: what it tells of the records that it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import pyarrow as pa

from diskret.io import FrameKind, from_arrow
from diskret.texts import Words, number, percent, words_in
from diskret.utility.propensity import Propensity

#: Quantiles of distances that are told.
QUANTILES = (0.01, 0.05, 0.5)


@dataclass(frozen=True)
class Uniques:
    """Records that are alone with their keys.

    Parameters
    ----------
    original, synthetic
        How many there are in each file.
    replicated
        Original ones whose combination of keys is alone in the synthetic file, too.
    """

    original: int
    synthetic: int
    replicated: int


@dataclass(frozen=True)
class Guess:
    """How well the synthetic file tells a variable of persons whose keys are known.

    Shares of all persons, from 0 to 1.

    Parameters
    ----------
    found
        Their keys occur in the synthetic file.
    disclosed
        All synthetic records with their keys have the same value.
    correct
        … and it is theirs (DiSCO).
    right
        A guess is right: the value of one synthetic record with their keys, drawn at random; who
        is not found is not guessed (CAP).
    """

    found: float
    disclosed: float
    correct: float
    right: float


@dataclass(frozen=True)
class TargetRisk:
    """Guesses at one variable, of original records and of persons who were not used."""

    target: str
    original: Guess
    holdout: Guess | None


@dataclass(frozen=True)
class Closeness:
    """How near synthetic records come to the nearest original one, by Gower's distance.

    Parameters
    ----------
    copies
        Share of synthetic records that are equal to an original one.
    quantiles
        Distances that 1, 5 and 50 % of the synthetic records do not exceed.
    holdout_copies, holdout_quantiles
        The same for the nearest record of as many persons who were not used; None without them.
    nearer
        Share of synthetic records that are nearer to an original record than to one of those; half
        of those that are equally near. ½ if they tell nothing of single records; None without them.
    """

    copies: float
    quantiles: tuple[float, ...]
    holdout_copies: float | None
    holdout_quantiles: tuple[float, ...] | None
    nearer: float | None


@dataclass(frozen=True)
class Membership:
    """Whether it can be told that a record was used, by its distance to the nearest synthetic one.

    Parameters
    ----------
    auc
        Probability that an original record is nearer than one that was not used; equal ones count
        half. ½: it cannot be told; 1: always.
    advantage
        Largest difference between the shares of both below a distance.
    """

    auc: float
    advantage: float


@dataclass(frozen=True, eq=False)
class SyntheticRisk:
    """What a synthetic file tells of the original records. Confidential.

    Parameters
    ----------
    records, synthetic, holdout
        Number of records of each file; `holdout` 0 if there is none.
    uniques
        Records that are alone with their keys.
    targets
        Guesses at each target.
    closeness
        Distances to the nearest record.
    membership
        None without a holdout.
    propensity
        Whether a model tells synthetic from original records.
    kind
        The kind of frame that `frame` is.
    """

    records: int
    synthetic: int
    holdout: int
    uniques: Uniques
    targets: tuple[TargetRisk, ...]
    closeness: Closeness
    membership: Membership | None
    propensity: Propensity
    kind: FrameKind

    def __repr__(self) -> str:
        told = [
            f"{self.synthetic:,} records made from {self.records:,}",
            f"{self.uniques.replicated:,} of {self.uniques.original:,} unique ones replicated",
            *(f"{one.target}: {one.original.correct:.1%} disclosed" for one in self.targets),
            f"{self.closeness.copies:.1%} copies",
        ]
        if self.membership is not None:
            told.append(f"membership {self.membership.auc:.3f}")
        return f"SyntheticRisk({'; '.join(told)})"

    def summary(self, language: str = "en") -> str:
        """All figures in sentences, to print.

        Parameters
        ----------
        language
            ``"en"`` or ``"de"``.

        Raises
        ------
        InputError
            There are no texts in that language.
        """
        words = words_in(language, "synthetic")
        files = {"records": self.records, "synthetic": self.synthetic, "holdout": self.holdout}
        key = "files and holdout" if self.holdout else "files"
        unique = {"original": self.uniques.original, "replicated": self.uniques.replicated}
        said = [words.said(key, **files), words.said("uniques", **unique)]
        for one in self.targets:
            own = _shares(one.original, language)
            said.append(words.said("target", target=one.target, **own))
            if one.holdout is not None:
                beside = _shares(one.holdout, language)
                said.append(words.said("target holdout", target=one.target, **beside))
        said += _closeness(self.closeness, words)
        if self.membership is not None:
            auc = number(self.membership.auc, language, 2)
            advantage = percent(self.membership.advantage, language)
            said.append(words.said("membership", auc=auc, advantage=advantage))
        if isnan(self.propensity.ratio):
            said.append(
                words.said("propensity alone", pmse=number(self.propensity.pmse, language, 4))
            )
        else:
            said.append(words.said("propensity", ratio=number(self.propensity.ratio, language, 1)))
        return "\n".join(said)

    @property
    def frame(self) -> Any:
        """All figures, a row each: measure, target, value for the original and for the holdout."""
        rows = [_row(name, None, number, None) for name, number in asdict(self.uniques).items()]
        for one in self.targets:
            beside = asdict(one.holdout) if one.holdout else {}
            rows += [
                _row(name, one.target, share, beside.get(name))
                for name, share in asdict(one.original).items()
            ]
        near = self.closeness
        rows.append(_row("copies", None, near.copies, near.holdout_copies))
        beside_them = near.holdout_quantiles or (None,) * len(QUANTILES)
        for share, own, other in zip(QUANTILES, near.quantiles, beside_them, strict=True):
            rows.append(_row(f"distance of {share:.0%}", None, own, other))
        rows.append(_row("nearer", None, near.nearer, None))
        if self.membership is not None:
            rows += [_row(name, None, one, None) for name, one in asdict(self.membership).items()]
        rows.append(_row("pmse", None, self.propensity.pmse, None))
        rows.append(_row("pmse ratio", None, self.propensity.ratio, None))
        types = [pa.string(), pa.string(), pa.float64(), pa.float64()]
        fields = zip(("measure", "target", "original", "holdout"), types, strict=True)
        return from_arrow(pa.Table.from_pylist(rows, pa.schema(list(fields))), self.kind)


def _shares(guess: Guess, language: str) -> Mapping[str, str]:
    return {name: percent(share, language) for name, share in asdict(guess).items()}


def _closeness(near: Closeness, words: Words) -> list[str]:
    language = words.language
    _, five, half = (number(one, language, 3) for one in near.quantiles)
    copies = percent(near.copies, language)
    if near.holdout_quantiles is None:
        return [
            words.said("copies", copies=copies),
            words.said("distance", near=five, half=half),
        ]
    _, other_five, other_half = (number(one, language, 3) for one in near.holdout_quantiles)
    beside = {"near_holdout": other_five, "half_holdout": other_half}
    return [
        words.said("copies holdout", copies=copies, holdout=percent(near.holdout_copies, language)),
        words.said("distance holdout", near=five, half=half, **beside),
        words.said("nearer", nearer=percent(near.nearer, language)),
    ]


def _row(measure: str, target: str | None, value: Any, beside: Any) -> Mapping[str, Any]:
    return {"measure": measure, "target": target, "original": value, "holdout": beside}
