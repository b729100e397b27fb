"""What an institution lets go: thresholds, rules, verdicts and words, as a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from diskret.errors import InputError
from diskret.io.encoded import utf8_text
from diskret.io.key_lines import key_lines
from diskret.parameters import Declared, Percentage, Share, Whole, parameters
from diskret.texts import LANGUAGES

Verdict = Literal["pass", "review", "fail"]

#: What results may be.
KINDS = (
    "frequencies",
    "sums",
    "means",
    "quantiles",
    "extremes",
    "modes",
    "deviations",
    "ratios",
    "concentration",
    "histogram",
    "figure",
    "survival",
    "correlation",
    "components",
    "regression",
    "test",
    "summary",
    "file",
    "unknown",
)

#: Check → the verdict where it finds something, unless a profile says otherwise.
CHECKS: Mapping[str, Verdict] = {
    # tables
    "threshold": "fail",
    "dominance": "fail",
    "p_percent": "fail",
    "level": "fail",
    "group": "fail",
    "zero": "review",
    "all_equal": "fail",
    "squares": "fail",
    "negative": "review",
    "missing": "review",
    # what is the value of a record, or of few
    "extremes": "fail",
    "few_at_rank": "fail",
    "few_share": "fail",
    "nearly_all": "fail",
    "points": "fail",
    "smooth": "review",
    # steps of survival curves
    "few_events": "fail",
    "few_censored": "fail",
    "few_at_risk": "fail",
    # models
    "freedom": "fail",
    "support": "fail",
    "reference": "fail",
    "unproven": "review",
    "pairs": "review",
    "leverage": "fail",
    "weight": "fail",
    "collinear": "review",
    "perfect": "fail",
    "saturated": "fail",
    "sum_of_products": "fail",
    "value_of_one": "fail",
    "residual_sum": "fail",
    "residuals": "fail",
    # numbers of one result together, results beside each other
    "within": "fail",
    "difference": "fail",
    "rest": "fail",
    "too_large": "review",
    "records": "review",
    # files
    "link": "fail",
    "unread": "review",
    "too_big": "review",
    "microdata": "fail",
    "many_rows": "review",
    "hidden": "fail",
    "comments": "review",
    "embedded": "fail",
    "metadata": "review",
    "archive": "review",
    "formulas": "review",
    "headers": "review",
    "names": "review",
    "cell_rules": "review",
    "prose": "review",
    "code": "review",
    "differs": "fail",
    "said": "review",
    # whatever the result is
    "forbidden": "fail",
    "unknown": "review",
}

BUNDLED = ("acro", "guidelines")


@dataclass(frozen=True)
class Profile(Declared):
    """The rules that an institution judges results by.

    Parameters
    ----------
    name
        What the profile is called.
    threshold
        The fewest units, unweighted, that a number may be about.
    freedom
        The fewest residual degrees of freedom of a model.
    dominance
        Number of largest contributors and the percentage of the total that they may not have
        together, such as ``[2, 90]``; None: not judged.
    reached
        Whether exactly that percentage is too much already, as in ACRO; the definition of the
        rule asks for more.
    p_percent
        How close the second largest must not come to the largest, in percent of it; None: not
        judged.
    group_percent
        The percentage of a row or column that one cell may not exceed; None: not judged.
    leverage
        Share of its own fitted value from which on a unit is said to determine it; also the share
        of a coefficient's weight that fewer units than the threshold must not have. None: it
        follows from `p_percent`, see `own_share`.
    digits
        Significant digits of fractions in the files of tables and models that leave through a
        `Desk`; 17: all.
    verdicts
        Check → ``"pass"``, ``"review"`` or ``"fail"`` where the institution decides otherwise
        than `CHECKS`.
    forbidden
        Kinds of results that never leave; see `KINDS`.
    suffixes
        Kinds of files that never leave, such as ``".dta"``.
    excepting
        Who may let go what failed; empty: nobody.
    wording
        Check → language → the institution's own sentence.

    Raises
    ------
    InputError
        A value is not admissible, a check or kind is not known.

    Sources
    -------
    Bond, Brandt and de Wolf: Guidelines for the checking of output based on microdata research
    (DwB 2015): ten units, ten degrees of freedom, half of the total, 90 % of a row. ACRO 1.0
    (default.yaml): 10, 10, NK with 2 and 90 %, p-ratio 10 %. US Census Bureau, Disclosure Review
    Board: four significant digits.

    Examples
    --------
    >>> Profile.read("guidelines").threshold
    10
    """

    name: str = "own"
    threshold: Annotated[int, Whole(1)] = 10
    freedom: Annotated[int, Whole(0)] = 10
    dominance: Sequence[float] | None = (2, 90)
    reached: bool = False
    p_percent: Annotated[float, Percentage()] | None = 10
    group_percent: Annotated[float, Percentage(high=100)] | None = None
    leverage: Share | None = None
    digits: Annotated[int, Whole(2, 17)] = 5
    verdicts: Mapping[str, str] = field(default_factory=dict)
    forbidden: Sequence[str] = ()
    suffixes: Sequence[str] = ()
    excepting: Sequence[str] = ()
    wording: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dominance is not None:
            _check_dominance(self.dominance)
            object.__setattr__(self, "dominance", tuple(self.dominance))
        _known("verdicts", self.verdicts, CHECKS)
        _known("wording", self.wording, CHECKS)
        _known("forbidden", self.forbidden, KINDS)
        for check, verdict in self.verdicts.items():
            if verdict not in ("pass", "review", "fail"):
                raise InputError(
                    f"verdicts= must be 'pass', 'review' or 'fail', not {verdict!r} for {check!r}"
                )
        for check, said in self.wording.items():
            if not isinstance(said, Mapping) or not {*said} <= {*LANGUAGES}:
                raise InputError(f'wording= of {check!r} must name languages: en = "…", de = "…"')

    @classmethod
    def read(cls, profile: str | PathLike[str] | Profile) -> Profile:
        """A bundled profile by its name, or one of the institution's own from a TOML file.

        Parameters
        ----------
        profile
            ``"acro"``, ``"guidelines"``, or the path of a file whose keys are those of `Profile`;
            a `Profile` is handed back.

        Raises
        ------
        InputError
            There is no such profile or file, or a key or value is not admissible; the message
            names file and line.
        """
        if isinstance(profile, Profile):
            return profile
        if profile in BUNDLED:
            file = files("diskret.outputs").joinpath("profiles", f"{profile}.toml")
            return _read(str(profile), file.read_text(encoding="utf-8"))
        path = Path(profile)
        if not path.is_file():
            raise InputError(
                f"there is no profile {str(profile)!r}: name a TOML file, or one of "
                f"{', '.join(map(repr, BUNDLED))}"
            )
        return _read(str(path), utf8_text(path))

    @property
    def own_share(self) -> float:
        """From which share on a unit determines what is fitted to it: `leverage`, or by p%.

        With leverage h, the error of a fitted value as an estimate of the unit's own value is
        1 - h times that of the fit without the unit. If nothing better than zero was known before,
        as the p% rule takes it, the estimate is within p % from h = 1 - p / 100 on. Without p the
        share is that of dominance, n largest with k %; without both 0.9.

        >>> Profile.read("guidelines").own_share, Profile(p_percent=20).own_share
        (0.9, 0.8)
        """
        if self.leverage is not None:
            return float(self.leverage)
        if self.p_percent is not None:
            return 1 - float(self.p_percent) / 100
        return 0.9 if self.dominance is None else float(self.dominance[1]) / 100

    def verdict(self, check: str) -> Verdict:
        """What it means where a check finds something.

        >>> Profile.read("acro").verdict("negative")
        'review'
        """
        return self.verdicts.get(check, CHECKS[check])  # pyright: ignore[reportReturnType]


def _read(place: str, text: str) -> Profile:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{place}: not valid TOML ({error})") from error
    lines = key_lines(text)
    known = parameters(Profile)
    for key, value in values.items():
        where = f"{place}, line {lines[(key,)]}"
        if key not in known:
            raise InputError(
                f"{where}: {key!r} is no key of a profile; there are {', '.join(known)}"
            )
        try:
            Profile(**{key: value})
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    return Profile(**values)


def _check_dominance(rule: Any) -> None:
    numbers = [one for one in rule if isinstance(one, int | float)]
    good = len(numbers) == len(rule) == 2
    if not good or not (numbers[0] >= 1 and numbers[0] % 1 == 0 and 1 <= numbers[1] <= 100):
        raise InputError(
            "dominance= must be the number of contributors and a percentage, such as [2, 90], "
            f"not {rule!r}"
        )


def _known(argument: str, given: Any, names: Any) -> None:
    for one in given:
        if one not in names:
            raise InputError(f"{argument}= names {one!r}; there are {', '.join(names)}")
