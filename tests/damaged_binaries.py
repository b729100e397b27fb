"""Reads many damaged binary files; run in a process of its own, which they must not end."""

import random
import sys
import tempfile
import traceback
from pathlib import Path

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS), str(TESTS / "safe")]

import numpy as np  # noqa: E402
from every_family import KEYS  # noqa: E402

from diskret.errors import DiskretError  # noqa: E402
from diskret.publish.verify import folder as module  # noqa: E402
from diskret.publish.verify.folder import verify  # noqa: E402

DRAW = random.Random(11)
COUNT = {"refused": 0, "harmless": 0}


def attempt(what, call):
    """One damaged file: an error of ours, or nothing; everything else is reported."""
    try:
        call()
        COUNT["harmless"] += 1
    except DiskretError as error:
        COUNT["refused"] += 1
        assert len(str(error)) < 2000
    except BaseException:
        sys.stdout.write(f"{what}\n{traceback.format_exc()}")
        sys.exit(2)


def bytes_damaged(content):
    """Bits turned over, a part cut out, the end cut off, a part filled with one byte."""
    content = bytearray(content)
    at, size = DRAW.randrange(len(content)), DRAW.randrange(1, 64)
    kind = DRAW.randrange(4)
    if kind == 0:
        for _ in range(DRAW.randrange(1, 8)):
            content[DRAW.randrange(len(content))] ^= 1 << DRAW.randrange(8)
    elif kind == 1:
        del content[at : at + size]
    elif kind == 2:
        del content[at:]
    else:
        content[at : at + size] = bytes([DRAW.choice((0, 255, 127))]) * size
    return bytes(content)


def array_damaged(array):
    """Another length, shape or type, or values far away."""
    flat = array.ravel().copy()
    far = (2**62, -(2**62), -1, 2**31, 10**6)
    kinds = [
        lambda: flat[: max(0, len(flat) - 1 - DRAW.randrange(3))],
        lambda: np.append(flat, flat[:1]) if len(flat) else np.zeros(3, array.dtype),
        lambda: flat.astype("<f8") if flat.dtype.kind in "iub" else flat.astype("U5"),
        lambda: flat.reshape(-1, 1),
        lambda: np.zeros((), flat.dtype),
        lambda: flat[::-1].copy(),
        lambda: np.array(["x"] * len(flat)),
    ]
    if flat.dtype.kind in "iuf" and len(flat):

        def moved():
            with np.errstate(all="ignore"):
                flat[DRAW.randrange(len(flat))] = np.array(DRAW.choice(far)).astype(flat.dtype)
            return flat.reshape(array.shape)

        def shifted():
            return (flat + flat.dtype.type(DRAW.choice((1, 7)))).reshape(array.shape)

        kinds += [moved, moved, moved, shifted, shifted]
    return DRAW.choice(kinds)()


def npz_damaged(path, kept):
    """One array of an archive, with everything around it intact."""
    import io

    with np.load(io.BytesIO(kept)) as file:
        arrays = dict(file)
    name = DRAW.choice(list(arrays))
    if DRAW.random() < 0.1:
        del arrays[name]
    else:
        arrays[name] = array_damaged(arrays[name])
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return name


def releases(folders):
    """Witnesses and Parquet files, with digests that shield nothing."""
    for shield in ("check_content", "check_digests"):
        setattr(module, shield, lambda *_: None)
    for folder in map(Path, folders):
        for path in [*sorted(folder.glob("*/*.parquet")), *sorted(folder.glob("*/*.npz"))]:
            kept = path.read_bytes()
            for _ in range(10):
                path.write_bytes(bytes_damaged(kept))
                attempt(path, lambda folder=folder: verify(folder, keys=KEYS))
            for _ in range(30 if path.suffix == ".npz" else 0):
                name = npz_damaged(path, kept)
                attempt((path, name), lambda folder=folder: verify(folder, keys=KEYS))
            path.write_bytes(kept)


def checkpoints():
    """Where a search stands."""
    from test_safe_search import census

    from diskret.safe.search import search

    problem = census(2_000)
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "state"
        seen = []

        def stop(*_):
            seen.append(1)
            if len(seen) > 45:
                raise KeyboardInterrupt

        def go_on(progress=lambda *_: None):
            search(problem, seed=3, sweeps=60, checkpoint=path, progress=progress)

        try:
            go_on(stop)
        except KeyboardInterrupt:
            pass
        kept = path.read_bytes()
        go_on()
        for _ in range(60):
            attempt(npz_damaged(path, kept), go_on)
        for _ in range(20):
            path.write_bytes(bytes_damaged(kept))
            attempt("checkpoint", go_on)


def blobs():
    """What a ledger keeps of a table, as if its seal had been made anew."""
    import zlib
    from dataclasses import replace

    from ledgers import described, earlier

    from diskret.publish.store.cells import earlier_of

    entry, [row] = described(earlier())
    for _ in range(60):
        plain = bytes_damaged(zlib.decompress(row.cells))
        cells = zlib.compress(plain) if DRAW.random() < 0.8 else bytes_damaged(row.cells)
        damaged = replace(row, cells=cells)
        attempt("cells", lambda damaged=damaged: earlier_of(damaged, entry, entry.tables[0]))


if __name__ == "__main__":
    releases(sys.argv[1:])
    checkpoints()
    blobs()
    sys.stdout.write(f"refused {COUNT['refused']}, without effect {COUNT['harmless']}\n")
