"""Attack as many random releases as asked, with a memory: what was done already is not repeated.

``python -m campaign.run --cases 20000 --seed 1`` attacks the cases 1 … 20000. One line for each
goes into a log, with a digest of the code that made and attacked it, so that a run that was cut off
goes on where it stopped, and a change of the code begins anew. Several may write into one log, each
from another ``--seed`` on: the figures of all are told at the end of a run that asks for all, which
has nothing left to do. ``--show 17`` tells all of case 17.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import multiprocessing
import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Seconds after which a case is given up and counted as such.
PATIENCE = 120
#: How many characters are told of a refusal or a finding.
TOLD = 400

Line = dict[str, Any]


def version() -> str:
    """A digest of all code that a case depends on."""
    package = importlib.util.find_spec("diskret")
    assert package is not None and package.origin is not None
    digest = hashlib.sha256()
    for folder in (Path(package.origin).parent, HERE):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def one(seed: int) -> Line:
    """Draw, release and attack a case.

    Returns
    -------
    dict
        ``outcome`` is protected | refused | nobody | late (no disclosure), or disclosed | crashed.
    """
    # diskret is imported once, in the process that attacks.
    from campaign.draws import draw
    from campaign.noise import attack_noise
    from campaign.oracle import attack
    from campaign.places import places
    from campaign.releases import Refusal, noisy, shown
    from campaign.world import Shown, all_hidden

    began = time.process_time()
    case = draw(seed)
    line: Line = {"seed": seed, "tables": len(case.layouts), "attacker": case.coalition}
    line |= {"measure": "sums" if case.summed else "counts", "rule": [k for k, _ in case.rule]}
    line |= {"ledger": case.ledger, "intervals": case.intervals, "noise": case.noise}
    line |= {"further": case.further}
    if not case.releases:
        return line | {"outcome": "nobody"}
    try:
        with _quietly(), _patience():
            if case.noise:
                tables = noisy(case)
                line["seconds"] = round(time.process_time() - began, 3)
                found, ratios = attack_noise(case, tables)
                line["ratios"] = astuple(ratios)
            else:
                tables = shown(case)
                line["seconds"] = round(time.process_time() - began, 3)
                found = attack(case, tables)
                if case.intervals:
                    line["places"] = places(case, tables)
    except Refusal as error:
        why = type(error).__name__
        if not (case.ledger or case.noise) and why in ("ProofError", "ProtectionError"):
            line["avoidable"] = not any(one.claimed for one in attack(case, all_hidden(case)))
        return line | {"outcome": "refused", "why": f"{why}: {error}"[:TOLD]}
    except TimeoutError:
        return line | {"outcome": "late"}
    except Exception:
        return line | {"outcome": "crashed", "why": traceback.format_exc(limit=-3)}
    suppressed = [t for t in tables if not (isinstance(t, Shown) and t.noisy)]
    line["hidden"] = sum(value is None for t in suppressed for value in t.value.values())
    line["cells"] = sum(len(t.value) for t in tables)
    line["attack"] = round(time.process_time() - began - line["seconds"], 3)
    claimed = [finding for finding in found if finding.claimed]
    beyond = sorted({finding.kind for finding in found if not finding.claimed})
    line |= {"beyond": beyond} if beyond else {}
    if claimed:
        kinds = sorted({finding.kind for finding in claimed})
        return line | {"outcome": "disclosed", "kinds": kinds, "why": str(claimed[0])}
    return line | {"outcome": "protected"}


@contextlib.contextmanager
def _quietly() -> Generator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        with contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield


@contextlib.contextmanager
def _patience() -> Generator[None]:
    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def lines(log: Path) -> list[Line]:
    """All lines of a log; one that was cut off in the middle counts as none."""
    found: list[Line] = []
    for text in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):
            found.append(json.loads(text))
    return found


def run(seeds: Iterable[int], log: Path, processes: int) -> list[Line]:
    """The lines of these cases, done now or before with the same code."""
    code, seeds = version(), list(seeds)
    kept = [line for line in lines(log) if line["code"] == code and line["outcome"] != "late"]
    done = {line["seed"]: line for line in kept}
    todo = [seed for seed in seeds if seed not in done]
    log.parent.mkdir(parents=True, exist_ok=True)
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    if not todo:
        return [done[seed] for seed in seeds]
    context = multiprocessing.get_context("spawn")
    told, began = time.monotonic(), time.monotonic()
    with (
        log.open("a", encoding="utf-8", buffering=1) as file,  # others may write lines, too
        context.Pool(processes, maxtasksperchild=2000) as pool,
    ):
        for number, line in enumerate(pool.imap_unordered(one, todo, chunksize=4), start=1):
            line["code"] = code
            done[line["seed"]] = line
            file.write(json.dumps(line) + "\n")
            if line["outcome"] in ("disclosed", "crashed"):
                print(f"case {line['seed']}: {line['outcome']}: {line['why']}")
            if time.monotonic() - told > 20 or number == len(todo):
                told = time.monotonic()
                rate = number / (told - began)
                print(f"{number:,} of {len(todo):,} cases, {rate:.1f} a second", flush=True)
    return [done[seed] for seed in seeds]


def ratios_tell(found: list[Line]) -> tuple[bool, str]:
    """Whether two measures of one firm share their noise more often than those of two firms."""
    own = [line["ratios"] for line in found if "ratios" in line]
    same, firms, by_chance, pairs = (sum(line[i] for line in own) for i in range(4))
    told = f"same share of noise: {same} of {firms} firms, {by_chance} of {pairs} pairs of firms"
    if not firms or not pairs:
        return False, told
    share = (same + by_chance) / (firms + pairs)
    error = (share * (1 - share) * (1 / firms + 1 / pairs)) ** 0.5
    return same / firms - by_chance / pairs > 4 * error > 0, told


def summary(found: list[Line]) -> str:
    """What came of cases, as a table for `docs/attacked.md`."""
    rows = [
        "| Statistics | Cases | Released | Refused | Cells | Hidden | Disclosures |",
        "|" + "---|" * 7,
    ]
    further = dict.fromkeys(kind for line in found for kind in line["further"])
    groups: dict[str, Callable[[Line], bool]] = {
        "counts": lambda one: one["measure"] == "counts",
        "sums": lambda one: one["measure"] == "sums",
        "one table": lambda one: one["tables"] == 1,
        "several tables": lambda one: one["tables"] > 1,
        "with a ledger": lambda one: one["ledger"],
        "with published intervals": lambda one: one["intervals"],
        "against one contributor": lambda one: one["attacker"] == 1 and not one["noise"],
        "against two": lambda one: one["attacker"] == 2 and not one["noise"],
        "with noise": lambda one: one["noise"],
        **{kind: lambda one, kind=kind: kind in one["further"] for kind in sorted(further)},
        "all": lambda one: True,
    }
    for name, belongs in groups.items():
        own = [line for line in found if belongs(line)]
        of = Counter(line["outcome"] for line in own)
        cells, hidden = (sum(line.get(k, 0) for line in own) for k in ("cells", "hidden"))
        rows.append(
            f"| {name} | {len(own):,} | {of['protected'] + of['disclosed']:,} | {of['refused']:,} "
            f"| {cells:,} | {hidden:,} | {of['disclosed']:,} |"
        )
    of = Counter(line["outcome"] for line in found)
    kinds = Counter(kind for line in found for kind in line.get("kinds", []))
    beyond = Counter(kind for line in found for kind in line.get("beyond", []))
    why = Counter(line["why"].split(":")[0] for line in found if line["outcome"] == "refused")
    text = [*rows, "", f"crashed {of['crashed']}, late {of['late']}, nobody {of['nobody']}"]
    text += [f"disclosed: {dict(kinds)}", f"beyond what is claimed: {dict(beyond)}"]
    text += [f"refused: {dict(why.most_common())}"]
    avoidable = [line["seed"] for line in found if line.get("avoidable")]
    text += [f"refused though all hidden would be safe: {len(avoidable)} {avoidable[:20]}"]
    seconds = [line.get("seconds", 0) + line.get("attack", 0) for line in found]
    text += [f"{sum(seconds) / max(len(seconds), 1):.3f} CPU seconds a case"]
    return "\n".join([*text, ratios_tell(found)[1], places_of(found)[1]])


def places_of(found: list[Line]) -> tuple[bool, str]:
    """Whether published intervals point at the values in them."""
    from campaign.places import places_tell

    return places_tell([place for line in found for place in line.get("places", [])])


def main(given: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="campaign.run", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="number of the first case")
    parser.add_argument("--log", type=Path, default=Path("out/attack.jsonl"))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", type=int, help="tell all of one case, made small")
    asked = parser.parse_args(given)
    if asked.show is not None:
        from campaign.small import show

        return show(asked.show)
    found = run(range(asked.seed, asked.seed + asked.cases), asked.log, asked.processes)
    print(summary(found))
    bad = [line for line in found if line["outcome"] in ("disclosed", "crashed")]
    for line in bad[:20]:
        print(f"case {line['seed']} {line['outcome']}: {line['why']}")
        print(f"  again: PYTHONPATH=src:tests python -m campaign.run --show {line['seed']}")
    told = {
        "the noise of two measures cancels in their ratio": ratios_tell(found)[0],
        "published intervals point at the values in them": places_of(found)[0],
    }
    for what in (what for what, holds in told.items() if holds):
        print(f"disclosed: {what}")
    return 1 if bad or any(told.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
