"""How numbers are written for readers of a language."""

from __future__ import annotations

from decimal import Decimal

# In German thousands are set apart by a blank that cannot be broken, as in the tables of official
# statistics, for a point would be read as the decimal sign.
_SIGNS = {"de": str.maketrans({",": "\N{NO-BREAK SPACE}", ".": ","})}


class Figure(str):
    r"""A number as English writes it, which a text writes as its own language does.

    >>> Figure("1,250.5").written("de")
    '1\xa0250,5'
    """

    __slots__ = ()

    def written(self, language: str) -> str:
        """As readers of the language write it."""
        return self.translate(_SIGNS.get(language, {}))


class Count(int):
    """How many things a message speaks of: in groups of thousands, or the form that fits.

    >>> cells, rows = Count(1), Count(1250)
    >>> f"{cells} {cells:cell is|cells are} missing in {rows} {rows:row|rows}"
    '1 cell is missing in 1,250 rows'
    """

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return form(self == 1, spec) if "|" in spec else super().__format__(spec or ",")


def form(one: bool, forms: str) -> str:
    """Of ``singular|plural`` the one that fits."""
    return forms.split("|")[not one]


def number(value: float | Decimal | None, language: str, decimals: int = 0) -> str:
    r"""A value as readers of the language write it; None and NaN are a dash.

    >>> number(-1234567.5, "en", 2), number(1234, "de")
    ('-1,234,567.50', '1\xa0234')
    """
    if value is None or value != value:
        return "–"
    exact = value if isinstance(value, float) else Decimal(str(value))  # 10^18 and 1 is no float
    return Figure(f"{exact:,.{decimals}f}").written(language)


def scaled(value: int, decimals: int, language: str) -> str:
    """A scaled integer as readers of the language write it.

    >>> scaled(-1234567, 2, "en")
    '-12,345.67'
    """
    return number(Decimal(value).scaleb(-decimals), language, decimals)


def percent(share: float | None, language: str) -> str:
    r"""A share as percent with one decimal; None is a dash.

    >>> percent(0.3194, "de")
    '31,9\xa0%'
    """
    return "–" if share is None else f"{number(100 * share, language, 1)}\N{NO-BREAK SPACE}%"
