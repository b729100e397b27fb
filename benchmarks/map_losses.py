"""What a map lost: neighbours, distances and hot spots, and the bounds of the transport distance.

Maps of 100 × 100, 316 × 316 and, with ``--large``, 1,000 × 1,000 cells, half of them empty, with
heavy tails; once merged in blocks of 2 × 2 where a cell is below 3, once changed by up to 2 each.
"""

import sys
from time import process_time

import numpy as np
from _memory import peak_megabytes

from diskret.spatial import compare

SIZES = [100, 316, 1_000]
FIGURES = ("mse", "mae", "hellinger", "vmr", "moran", "largest_agree", "hot_agree")


def maps(width: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Name → the map before and after."""
    draw = np.random.default_rng(1)
    coarse = np.exp(draw.normal(0, 1.5, (-(-width // 8), -(-width // 8))))
    dense = np.kron(coarse, np.ones((8, 8)))[:width, :width]
    before = np.floor(dense * draw.pareto(1.2, (width, width)) * 4)
    before[draw.random(before.shape) < 0.5] = 0
    blocks = before.reshape(width // 2, 2, width // 2, 2)
    few = ((blocks > 0) & (blocks < 3)).any(axis=(1, 3), keepdims=True)
    merged = np.where(few, blocks.mean(axis=(1, 3), keepdims=True), blocks).reshape(before.shape)
    noise = draw.integers(-2, 3, before.shape) * (before > 0)
    return {"merged": (before, merged), "noise": (before, np.maximum(before + noise, 0))}


def main() -> None:
    for one in maps(16).values():
        compare(*one).summary()  # compiles
    print(f"{'cells':>9} {'map':>6} {'s':>6} {'transport s':>11} {'low':>7} {'high':>7} {'MB':>6}")
    for width in SIZES if "--large" in sys.argv else SIZES[:2]:
        for name, one in maps(width).items():
            found = compare(*one)
            begin = process_time()
            for figure in FIGURES:
                getattr(found, figure)
            middle = process_time()
            way = found.transport
            end = process_time()
            print(
                f"{width**2:>9,} {name:>6} {middle - begin:>6.2f} {end - middle:>11.1f} "
                f"{way.low:>7.4f} {way.high:>7.4f} {peak_megabytes():>6,.0f}"
            )


if __name__ == "__main__":
    main()
