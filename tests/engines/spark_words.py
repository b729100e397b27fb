"""How Spark is told to add up."""


def halves(x):
    """The sums of the upper and of the lower 32 bits."""
    x = f"CAST({x} AS BIGINT)"
    return f"TRY_SUM(SHIFTRIGHT({x}, 32))", f"TRY_SUM({x} & 4294967295)"


def wide(x):
    """A sum, however large."""
    upper, lower = halves(x)
    return f"(CAST({upper} AS DECIMAL(19, 0)) * 4294967296 + CAST({lower} AS DECIMAL(19, 0)))"


def int64(x):
    """A sum, null if it leaves 64 bits."""
    upper, lower = halves(x)
    upper, lower = f"({upper} + SHIFTRIGHT({lower}, 32))", f"({lower} & 4294967295)"
    return (
        f"CASE WHEN {upper} BETWEEN -2147483648 AND 2147483647 AND NOT ({upper} = -2147483648 "
        f"AND {lower} = 0) THEN SHIFTLEFT({upper}, 32) | {lower} END"
    )
