"""The numbers that five documents on disclosure control print, to follow them with."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from diskret.parameters import Choice, reading

_SCHOOLS = ("without", "at school", "basic", "middle", "college", "university")
_RELIGIONS = ("catholic", "protestant", "orthodox", "jewish", "other")
_SCHOOL_COUNTS = """
     13  10   2   0  22
      8   8   0   0   7
    136 128   3   0  89
     76  90   3   0  12
     24  24   1   0  30
     58  60   4   4  82
"""
# the last column and the last row are the totals
_ROUNDED = """
     10  10   0   0  20  50
     10  10   0   0  10  20
    140 130   0   0  90 360
     80  90   0   0  10 180
     20  20   0   0  30  80
     60  60   0   0  80 210
    320 320  10   0 240 890
"""
_DRAWN_ROUNDED = """
     20  10   0   0  20  50
     10  10   0   0  10  20
    130 130   0   0  90 360
     80  90   0   0  20 180
     30  20   0   0  30  80
     60  60   0  10  80 210
    310 320  10   0 240 890
"""
_SECTORS = ("food", "cars", "transport", "chemicals")
_TURNOVER = """
    120000000 150000000
    500000000         0
       460000    850000
            0 320000000
"""
#: What becomes of the counts 1 to 7; the page ends at 10, which cuts the last two rows.
_ABS = """
    0.667 0.333 0     0     0     0     0     0     0
    0.333 0.667 0     0     0     0     0     0     0
    0.119 0.700 0.082 0.050 0.028 0.014 0.007 0     0
    0.062 0.076 0.704 0.075 0.037 0.020 0.014 0.012 0
    0.025 0.068 0.068 0.700 0.059 0.027 0.019 0.018 0.017
    0     0.057 0.057 0.057 0.700 0.041 0.023 0.021 0.021
    0     0.025 0.035 0.035 0.062 0.700 0.060 0.028 0.020
"""
_FRANCDAT = """
    0.30 0.40  4  1 2 5 1   18
    0.12 0.22 22  1 2 1 1   45.5
    0.18 0.80  8  1 2 1 1   39
    1.90 9.00 91  4 3 1 5   17
    1.00 1.30 13  4 3 1 4  541
    1.00 1.40 14  4 3 1 1    8
    0.10 0.01  1  6 3 1 5    5
    0.15 0.50  5  1 2 5 1   92
"""
_THREE_BY_THREE = """
    20 50 10
     8 19 22
    17 32 12
"""
_INDUSTRIES = """
    20 50 10
     8 19 22
    17 32 12
    40 50 20
     2 20 18
    20 30 25
"""
_STUDENTS = """
     4  3
     9 12
     4  1
    10 10
"""
_KEYED = (
    ("Würzburg", "m", "0.611853"),
    ("Eichstätt", "w", "0.139494"),
    ("München", "w", "0.292145"),
    ("München", "m", "0.366362"),
    ("Würzburg", "m", "0.456070"),
    ("Würzburg", "m", "0.785176"),
    ("Bamberg", "m", "0.199674"),
    ("München", "w", "0.514234"),
    ("München", "m", "0.592415"),
    ("München", "m", "0.046450"),
)
#: Cumulative over the noise −4 to 4, for the counts 1 to 7.
_CUMULATIVE = """
    0     0     0      0.6875 0.6875 0.6875 0.9375 1     1
    0     0     0.3533 0.3533 0.3533 0.9440 0.9970 0.9990 1
    0     0.162 0.162 0.162  0.662  0.856  0.997  0.999  1
    0.087 0.087 0.087 0.192  0.692  0.859  0.997  0.999  1
    0     0     0.145 0.327  0.827  0.859  0.893  0.949  1
    0     0.04  0.15  0.285  0.785  0.86   0.92   0.96   1
    0.02  0.06  0.145 0.25   0.75   0.855  0.94   0.98   1
"""
_AGES = """
     3  3
     8  9
    12  9
     4  1
"""
# from, to (0: no end), cells, largest and mean deviation
_PERSONS_BY_SIZE = """
           1       9 3787507 8 1.64
          10      99 3246990 8 2.22
         100     999 2022537 8 2.29
        1000    9999  887972 9 2.33
       10000   99999  233991 9 2.38
      100000  999999   37507 8 2.45
     1000000 9999999    2727 8 2.61
    10000000       0      39 4 1.31
"""
_HOUSING_BY_SIZE = """
           1       9 1358071 5 1.38
          10      99  915183 6 1.43
         100     999  471606 6 1.38
        1000    9999  130859 6 1.39
       10000   99999   26334 5 1.44
      100000  999999    3838 5 1.46
     1000000 9999999     343 5 1.44
"""
# deviation, cells of tables of 1, 2, 3, and 4 or 5 variables, cumulative percentages of them
_PERSONS_BY_DEVIATION = """
    0 7730 41472  429058  764471  56.7  12.0  11.9  12.2
    1 4600 86008 1053292 2034970  90.4  36.8  41.1  44.8
    2 1210 73607  840969 1523732  99.2  58.0  64.4  69.2
    3  104 60243  594461  954158 100.0  75.4  80.9  84.4
    4    0 47035  411153  608160 100.0  89.0  92.3  94.1
    5    0 26310  202569  274847 100.0  96.5  97.9  98.5
    6    0 10077   66662   81715 100.0  99.5  99.7  99.8
    7    0  1823    8954    9489 100.0 100.0 100.0 100.0
    8    0    80     155     154 100.0 100.0 100.0 100.0
    9    0     2       0       0 100.0 100.0 100.0 100.0
"""
_HOUSING_BY_DEVIATION = """
    0 4391 37980 155866 278551  44.5  17.0  16.4  16.2
    1 5250 84913 420560 752125  97.7  55.0  60.5  59.9
    2  223 64154 260389 471625 100.0  83.8  87.9  87.3
    3    0 27290  86197 165421 100.0  96.0  96.9  96.9
    4    0  8555  27912  51211 100.0  99.8  99.9  99.9
    5    0   425   1195   1996 100.0 100.0 100.0 100.0
    6    0     0      0      5 100.0 100.0 100.0 100.0
"""
_BY_SIZE = ("from", "to", "cells", "largest", "mean")
_BY_DEVIATION = (
    *("deviation", "cells_1", "cells_2", "cells_3", "cells_4"),
    *("share_1", "share_2", "share_3", "share_4"),
)


def _rows(block: str) -> Iterator[list[int | float]]:
    """The numbers of a block, line by line."""
    for line in block.split("\n"):
        if words := line.split():
            yield [float(word) if "." in word else int(word) for word in words]


def _columns(block: str, *names: str) -> pa.Table:
    """A block with a name for each column; whole numbers stay whole where all are."""
    columns = zip(*_rows(block), strict=True)
    values = (
        np.array(c, dtype=np.float64 if any(isinstance(x, float) for x in c) else np.int64)
        for c in columns
    )
    return pa.table(dict(zip(names, values, strict=True)))


def _cells(
    block: str, row: tuple[str, ...], column: tuple[str, ...], *names: str, totals: bool = False
) -> pa.Table:
    """A printed table as one row a cell; `totals`: it ends with its margins."""
    codes = [(*given, "Total") if totals else given for given in (row, column)]
    values = np.array(list(_rows(block))).ravel()
    down, across = np.repeat(codes[0], len(codes[1])), np.tile(codes[1], len(codes[0]))
    return pa.table(dict(zip(names, (down, across, values), strict=True)))


def _firms(**turnover: int) -> pa.Table:
    return pa.table({"firm": list(turnover), "turnover": list(turnover.values())})


def _transitions(block: str, columns: Any) -> pa.Table:
    matrix = np.array(list(_rows(block)), dtype=np.float64)
    named = {str(name): matrix[:, at] for at, name in enumerate(columns)}
    return pa.table({"count": np.arange(1, len(matrix) + 1), **named})


def _thousand_and_one() -> pa.Table:
    """The draws that the listing names: numpy's old generator, seed 42, in this order."""
    draw = np.random.RandomState(42)
    places = ("Bamberg", "Würzburg", "München", "Eichstätt")
    university = draw.choice(places, size=1001, p=(0.15, 0.3, 0.5, 0.05))
    sex = draw.choice(("m", "w"), size=1001, p=(0.5, 0.5))
    keys = [f"{key:.12f}" for key in draw.uniform(size=1001)]
    return pa.table({"university": university, "sex": sex, "record_key": keys})


def _keyed() -> pa.Table:
    university, sex, key = zip(*_KEYED, strict=True)
    return pa.table({"university": university, "sex": sex, "record_key": key})


def _schools(block: str, totals: bool) -> pa.Table:
    return _cells(block, _SCHOOLS, _RELIGIONS, "school", "religion", "persons", totals=totals)


_KEYS = ("Num1", "Num2", "Num3", "Key1", "Key2", "Key3", "Key4", "w")
_LEAVES = ("6211", "6212", "6214", "6222", "6223", "6224")
_MAKERS: dict[str, Callable[[], pa.Table]] = {
    "heinzl.schools": lambda: _schools(_SCHOOL_COUNTS, False),
    "heinzl.rounded": lambda: _schools(_ROUNDED, True),
    "heinzl.randomly_rounded": lambda: _schools(_DRAWN_ROUNDED, True),
    "heinzl.turnover": lambda: _cells(
        _TURNOVER, _SECTORS, ("A", "B"), "sector", "region", "turnover"
    ),
    "heinzl.firms": lambda: _firms(A=25_000, B=400_000, C=35_000),
    "heinzl.abs": lambda: _transitions(_ABS, (0, *range(3, 11))),
    "meindl.francdat": lambda: _columns(_FRANCDAT, *_KEYS),
    "meindl.table": lambda: _cells(_THREE_BY_THREE, tuple("123"), tuple("123"), "x", "y", "n"),
    "meindl.industries": lambda: _cells(_INDUSTRIES, _LEAVES, tuple("ABC"), "nace", "column", "n"),
    "simon.students": lambda: _cells(
        _STUDENTS,
        ("civil engineering", "computer science", "medicine", "survey statistics"),
        ("m", "w"),
        *("subject", "sex", "students"),
    ),
    "simon.breweries": lambda: _firms(
        **{"Mährs Bräu": 600_000, "Schinkerla": 50_000, "Käsmann": 250_000}
    ),
    "simon.records": _keyed,
    "simon.generated": _thousand_and_one,
    "simon.matrix": lambda: _transitions(_CUMULATIVE, range(-4, 5)),
    "rothe.persons": lambda: _cells(
        _AGES, ("0-13", "14-49", "50-75", "75+"), ("women", "men"), "age", "sex", "persons"
    ),
    "rothe.firms": lambda: _firms(A=15_000, B=15_000, C=200_000),
    "safe.persons_by_size": lambda: _columns(_PERSONS_BY_SIZE, *_BY_SIZE),
    "safe.persons_by_deviation": lambda: _columns(_PERSONS_BY_DEVIATION, *_BY_DEVIATION),
    "safe.housing_by_size": lambda: _columns(_HOUSING_BY_SIZE, *_BY_SIZE),
    "safe.housing_by_deviation": lambda: _columns(_HOUSING_BY_DEVIATION, *_BY_DEVIATION),
}

#: Names that `lecture` knows.
LECTURES = tuple(_MAKERS)


@reading
def lecture(name: Annotated[str, Choice(LECTURES)]) -> pa.Table:
    """Return numbers that a document on disclosure control prints.

    Numbers only, typed in by hand; the words around them are not the documents'. Tables hold their
    inner cells, one a row; totals that are printed wrong stand in the [errata](../errata.md).

    Parameters
    ----------
    name
        The document and what of it:

        - ``"heinzl.schools"``: 30 counts, persons by school and religion;
        - ``"heinzl.rounded"``, ``"heinzl.randomly_rounded"``: what rounding to base 10 makes of
          them, totals included;
        - ``"heinzl.turnover"``: turnover in euros by sector and region;
        - ``"heinzl.firms"``: turnover of three firms in euros, for the rules of dominance;
        - ``"heinzl.abs"``: probabilities that 1, …, 7 become 0, 3, 4, …, 10 (rows 6 and 7 are not
          printed in full);
        - ``"meindl.francdat"``: eight records, three numbers, four keys, a sampling weight `w`;
        - ``"meindl.table"``: counts of a 3 × 3 table;
        - ``"meindl.industries"``: counts of six industries below 621 and 622, by three columns;
        - ``"simon.students"``, ``"simon.breweries"``: a frequency and a magnitude table;
        - ``"simon.records"``: ten students with record keys of 6 decimals (text);
        - ``"simon.generated"``: the 1001 students that the listing draws, keys of 12 decimals;
        - ``"simon.matrix"``: cumulative probabilities of the noise −4, …, 4 of the counts 1, …, 7;
        - ``"rothe.persons"``: persons by age and sex;
        - ``"rothe.firms"``: turnover of three firms in euros, for the p% rule;
        - ``"safe.persons_by_size"``, ``"safe.housing_by_size"``: number of cells, their largest and
          mean deviation, by the size of the cells (`to` is 0 where there is no end);
        - ``"safe.persons_by_deviation"``, ``"safe.housing_by_deviation"``: number of cells of
          tables of 1, 2, 3, and 4 or 5 variables, and cumulative percentages, by deviation.

    Returns
    -------
    pyarrow.Table
        Whole numbers are int64, others float64, codes and record keys text.

    Raises
    ------
    InputError
        There is no such name.

    References
    ----------
    F. Heinzl, lecture *Statistische Geheimhaltung*; B. Meindl, *Einführung in die statistische
    Geheimhaltung*, Statistik Austria; J. Simon (2022), *Statistische Geheimhaltung: Cell Key
    Methode*, Bamberg, after J. Höhne and J. Höninger (2019); P. Rothe (2015), *Bayern in Zahlen* 8;
    *SAFE – a method for anonymising the German Census*, UNECE/Eurostat work session, Tarragona.

    Examples
    --------
    >>> import diskret as dk
    >>> dk.datasets.lecture("heinzl.firms").to_pydict()
    {'firm': ['A', 'B', 'C'], 'turnover': [25000, 400000, 35000]}
    >>> dk.datasets.lecture("meindl.francdat")["Key1"].to_pylist()
    [1, 1, 1, 4, 4, 4, 6, 1]
    """
    return _MAKERS[name]()
