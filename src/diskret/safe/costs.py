"""What deviations cost in the search: squares, and a wall beyond an admissible error."""

from typing import NamedTuple

#: Costs are whole numbers, so that sums do not depend on their order: so many for a cost of 1.
SCALE = 64
#: Logarithm of the factor by which the wall grows with each unit of deviation.
STEEP = 0.7
#: Height of the wall at the admissible error.
HEIGHT = 30.0
#: Beyond this exponent it grows no further.
TOP = 12.0
#: A deviation of so many units is worth a closer look at cells with allowances.
USUAL = 12.0
#: Weight of cells that keep their counts.
EXACT = 1e4
#: What must not be costs so much.
NEVER = 1 << 29


class Margin(NamedTuple):
    """How tables of one variable are treated.

    `weight`: squares of their deviations weigh so much more.
    `wall`: their admissible error, in thirds of the minimum.
    """

    weight: float
    wall: float


class Raised(NamedTuple):
    """How cells are treated that have to be mended.

    `height`: height of their wall, `HEIGHT` for others.
    `most`, `margin`: where it is, in records; `margin` for tables of one variable.
    """

    height: float
    most: int
    margin: int
