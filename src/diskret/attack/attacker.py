"""Who attacks: what is known beside the published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from diskret.attack.prior import bounds_around
from diskret.errors import InputError
from diskret.parameters import Declared, Percent, Whole, reading
from diskret.texts import Figure, words_in

#: Names that are told in an error, at most.
_EXAMPLES = 5


@dataclass(frozen=True)
class Attacker(Declared):
    """An attacker who knows all public symbols, all equations and perhaps bounds.

    The default is the plain outsider: values are ≥ 0 (where the world knows that they
    cannot be negative) and there is **no upper bound**.

    Parameters
    ----------
    lower, upper
        Bounds known a priori for suppressed cells. A frame with the code columns and
        one column ``lower`` / ``upper``, or a callable that takes the `Published` table
        and returns an array of its shape in published units (NaN = not known); for several
        tables a mapping from their names to either.
    relative
        Percent of each original value by which the attacker can bound it on both sides.
        Only the office can compute these bounds, so only the office can run this attack.
    zeros_known
        The attacker knows that zero cells are never suppressed: hidden counts are ≥ 1.
    mistaken
        What becomes of bounds that exclude the true value of a cell. ``"refuse"``: nobody can
        attack with them, so they are an error that names the cells. ``"drop"``: such a bound
        does not count, as an attacker who is mistaken about a cell learns nothing from it; only
        the office can tell, so only the office can run this attack.
    contributor
        The attacker has contributed to some cells itself: it knows its own contributions, and
        in which cells nobody else is. Unsafe cells, and sums of suppressed cells that published
        totals reveal and that are unsafe by all who contribute to them, have to stay as uncertain
        to it as the rule asks for those who are left there.
    coalition
        Up to how many contributors pool what they know, ≥ 1.

    Examples
    --------
    >>> Attacker(relative=50).in_words()
    'knows everything published and all equations, knows every value to within 50 %.'
    >>> Attacker(contributor=True, coalition=2).kind
    'contributor'
    """

    lower: Any = None
    upper: Any = None
    relative: Annotated[float, Percent()] | None = None
    zeros_known: bool = False
    mistaken: Literal["refuse", "drop"] = "refuse"
    contributor: bool = False
    coalition: Annotated[int, Whole(1)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coalition > 1 and not self.contributor:
            raise InputError(
                f"a coalition of {self.coalition} consists of contributors: "
                f"Attacker(contributor=True, coalition={self.coalition})"
            )

    @classmethod
    @reading
    def around(
        cls,
        previous: Any,
        percent: Annotated[float, Percent()],
        *,
        value: str | None = None,
        mistaken: Literal["refuse", "drop"] = "refuse",
        zeros_known: bool = False,
    ) -> Attacker:
        """Who knows last period's values, and that none changed by more than `percent`.

        A value that was suppressed then is known by the interval that everybody could compute
        from all that was published. Cells that last period did not have, or that were 0, of which
        no percentage says anything, get no bound, nor does a side on which nothing bounded a cell.

        Parameters
        ----------
        previous
            Last period's `Result` or `Published`, e.g. ``Published.read(folder)``; or a frame
            with the code columns and a column of values, empty where they were suppressed.
            Cells are matched by their codes. For several tables a mapping from the names of
            this period's tables to any of these, or a `Publication`, whose tables are attacked
            together and matched by their names.
        percent
            By how much values may have changed, above 0, of their size: 20 for ± 20 %.
        value
            Column of the values where `previous` is a frame.
        mistaken, zeros_known
            As in `Attacker`.

        Raises
        ------
        InputError
            The percentage or a frame cannot be used, or nothing of last period is given. When it
            attacks: last period's table has other variables, or none of this period's codes.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import diskret as dk
        >>> before = pa.table({"region": ["N", "S", "W", "Total"], "sales": [50, None, 40, 130]})
        >>> attacker = Attacker.around(before, 20, value="sales")
        >>> cells = pa.table({"region": ["N", "S", "W"], "sales": [55, 44, 41]})
        >>> table = dk.Table.from_cells(cells, by={"region": None}, value="sales")
        >>> rule = dk.rules.Apriori(pa.table({"region": ["S"], "status": ["unsafe"],
        ...     "lower": [4], "upper": [4], "reason": ["x"], "who": ["y"], "date": ["2025-01-01"]}))
        >>> result = dk.suppress(table, rule, attacker=attacker)
        >>> dk.attack.intervals(result.published, attacker).to_pylist()
        [{'region': 'S', 'lower': 37, 'upper': 53}, {'region': 'W', 'lower': 32, 'upper': 48}]
        """
        lower, upper = bounds_around(previous, percent, value, cls())
        return cls(lower=lower, upper=upper, mistaken=mistaken, zeros_known=zeros_known)

    def about(self, name: str) -> Attacker:
        """The same attacker with the bounds for one table, where they differ by table."""

        def pick(side: str) -> Any:
            bounds = getattr(self, side)
            return bounds.get(name) if _by_table(bounds, side) else bounds

        return replace(self, lower=pick("lower"), upper=pick("upper"))

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse bounds for a table that is not among those with these names."""
        for side in ("lower", "upper"):
            bounds = getattr(self, side)
            if not _by_table(bounds, side):
                continue
            unknown = [str(name) for name in bounds if name not in names]
            if unknown:
                raise InputError(
                    f"the attacker's {side} bounds are for {len(unknown)} tables that are not "
                    f"there: {', '.join(map(repr, unknown[:_EXAMPLES]))}; the tables are "
                    f"{', '.join(map(repr, names))}"
                )

    def about_earlier(self) -> Attacker:
        """The same attacker about tables published before, without bounds known a priori."""
        return replace(self, lower=None, upper=None, relative=None)

    @property
    def outsider(self) -> bool:
        """Whether this is the plain outsider, who knows nothing but what is public."""
        return not self.informed and not self.contributor

    @property
    def informed(self) -> bool:
        """Whether more is known of single cells than what is public."""
        return self.zeros_known or not (self.lower is self.upper is self.relative is None)

    @property
    def kind(self) -> Literal["outsider", "informed", "contributor"]:
        """The kind of attacker; all that a public file may say about it."""
        if self.contributor:
            return "contributor"
        return "informed" if self.informed else "outsider"

    def describe(self) -> dict[str, Any]:
        """What the attacker knows, for the internal certificate."""
        return {
            "kind": self.kind,
            "lower": self.lower is not None,
            "upper": self.upper is not None,
            "relative": self.relative,
            "zeros_known": self.zeros_known,
            "last_period_within": self._last_period_within,
            "mistaken": self.mistaken,
            "contributor": self.contributor,
            "coalition": self.coalition,
        }

    @property
    def _last_period_within(self) -> float | None:
        """By how much values may have changed since last period, if all bounds say just that."""
        sides = (self.lower, self.upper)
        each = [[*b.values()] if isinstance(b, Mapping) else [b] for b in sides]
        said = {getattr(bound, "percent", None) for bounds in each for bound in bounds}
        return said.pop() if len(said) == 1 else None

    def in_words(self, language: str = "en") -> str:
        """What the attacker knows, in one sentence."""
        words = words_in(language, "attacker")
        parts = [words["known"]]
        if self.contributor:
            parts.append(words.said("contributor", coalition=self.coalition))
        if self.zeros_known:
            parts.append(words["zeros"])
        if self.relative is not None:
            parts.append(words.said("relative", percent=Figure(f"{self.relative:g}")))
        if self.lower is not None or self.upper is not None:
            within = self._last_period_within
            if within is None:
                parts.append(words["bounds"])
            else:
                parts.append(words.said("before", percent=Figure(f"{within:g}")))
            if self.mistaken == "drop":
                parts.append(words["mistaken"])
        return ", ".join(parts) + "."


def _by_table(bounds: Any, side: str) -> bool:
    """Whether bounds are a mapping from names of tables, and no frame that is one of columns.

    A table may have the name of the column.
    """
    if not isinstance(bounds, Mapping):
        return False
    of_side = bounds.get(side)
    framed = any(hasattr(of_side, name) for name in ("columns", "column_names"))
    return side not in bounds or callable(of_side) or isinstance(of_side, Mapping) or framed
