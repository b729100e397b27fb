"""What somebody changes in the public files of a release, with all digests made anew."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from diskret.publish.digests import digest

CERTIFICATE = ".certificate.json"
#: What is compared by its content in every program that was written from the page of the format.
BY_CONTENT = (".csv", ".structure.json", ".derived.json", ".combined.json", ".previous.json")
EXCHANGE = (".sdmx1.csv", ".sdmx2.csv")


class Nothing(Exception):
    """There is nothing of the kind to change."""


def content(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def put(path: Path, what: Any) -> None:
    path.write_text(json.dumps(what, ensure_ascii=False), encoding="utf-8")


def refresh(public: Path) -> None:
    """List today's digests in the certificates, as anyone can."""
    for path in sorted(public.glob(f"*{CERTIFICATE}")):
        said = content(path)
        if not isinstance(said.get("files"), dict):
            continue
        there = {name for name in said["files"] if (public / name).is_file()}
        put(path, said | {"files": {name: digest(public / name) for name in sorted(there)}})


def stripped(public: Path) -> None:
    """Leave only what is compared by its content."""
    for path in public.iterdir():
        kept = path.name.endswith((CERTIFICATE, *BY_CONTENT)) and not path.name.endswith(EXCHANGE)
        if not kept:
            path.unlink()
    refresh(public)


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def some(draw: Random, public: Path, ending: str) -> Path:
    found = sorted(public.glob(f"*{ending}"))
    if not found:
        raise Nothing
    return draw.choice(found)


def a_line(draw: Random, rows: list[list[str]], fits: Callable[[list[str]], bool]) -> list[str]:
    found = [row for row in rows[1:] if fits(row)]
    if not found:
        raise Nothing
    return draw.choice(found)


def a_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdigit()


def raised(text: str, by: int) -> str:
    """A number with its last digit changed; as many decimals."""
    places = len(text.partition(".")[2])
    whole = int(text.replace(".", "")) + by
    digits = f"{abs(whole):0{places + 1}d}"
    point = len(digits) - places
    return "-" * (whole < 0) + digits[:point] + ("." + digits[point:] if places else "")


# ── cells ───────────────────────────────────────────────────────────────────────────


def another_value(draw: Random, public: Path) -> None:
    path = some(draw, public, ".csv")
    rows = rows_of(path)
    row = a_line(draw, rows, lambda row: any(map(a_number, row)))
    at = draw.choice([i for i, text in enumerate(row) if a_number(text)])
    row[at] = raised(row[at], draw.choice([1, 2, 10]))
    write_rows(path, rows)


def with_status(
    draw: Random, public: Path, is_: str
) -> tuple[Path, list[list[str]], int, list[str]]:
    names = sorted(p.name.removesuffix(".structure.json") for p in public.glob("*.structure.json"))
    if not names:
        raise Nothing
    path = public / f"{draw.choice(names)}.csv"
    rows = rows_of(path)
    at = rows[0].index("status")
    return path, rows, at, a_line(draw, rows, lambda row: row[at] == is_)


def shown_after_all(draw: Random, public: Path) -> None:
    path, rows, at, row = with_status(draw, public, "suppressed")
    decimals = content(path.with_suffix("").with_suffix(".structure.json"))["decimals"]
    row[at - 1 : at + 1] = ["3" + "." * bool(decimals) + "0" * decimals, "published"]
    row[at + 1 :] = [""] * (len(row) - at - 1)
    write_rows(path, rows)


def hidden_after_all(draw: Random, public: Path) -> None:
    path, rows, at, row = with_status(draw, public, "published")
    row[at - 1 : at + 1] = ["", "suppressed"]
    write_rows(path, rows)


def a_line_less(draw: Random, public: Path) -> None:
    path = some(draw, public, ".csv")
    rows = rows_of(path)
    del rows[draw.randrange(1, len(rows))]
    write_rows(path, rows)


def a_line_twice(draw: Random, public: Path) -> None:
    path = some(draw, public, ".csv")
    rows = rows_of(path)
    write_rows(path, [*rows, draw.choice(rows[1:])])


def another_column(draw: Random, public: Path) -> None:
    path = some(draw, public, ".csv")
    rows = rows_of(path)
    rows[0][draw.randrange(len(rows[0]))] += "x"
    write_rows(path, rows)


def two_codes_changed_over(draw: Random, public: Path) -> None:
    path = some(draw, public, ".csv")
    rows = rows_of(path)
    one, other = draw.choice(rows[1:]), draw.choice(rows[1:])
    one[0], other[0] = other[0], one[0]
    write_rows(path, rows)


# ── structure ───────────────────────────────────────────────────────────────────────


def of_structure(key: str, value: Callable[[Any], Any]) -> Callable[[Random, Path], None]:
    def change(draw: Random, public: Path) -> None:
        path = some(draw, public, ".structure.json")
        said = content(path)
        put(path, said | {key: value(said.get(key))})

    change.__name__ = f"another_{key}"
    return change


def another_parent(draw: Random, public: Path) -> None:
    path = some(draw, public, ".structure.json")
    said = content(path)
    axis = draw.choice(said["dimensions"])
    at = draw.randrange(1, len(axis["codes"]))
    axis["parents"][at] = draw.choice([c for c in axis["codes"] if c != axis["parents"][at]])
    put(path, said)


def a_label_of_nothing(draw: Random, public: Path) -> None:
    path = some(draw, public, ".structure.json")
    said = content(path)
    draw.choice(said["dimensions"])["labels"]["no such code"] = "text"
    put(path, said)


# ── certificates, and what says how something is made ───────────────────────────────


def certified(draw: Random, public: Path, has: str) -> tuple[Path, dict[str, Any]]:
    found = [path for path in sorted(public.glob(f"*{CERTIFICATE}")) if content(path).get(has)]
    if not found:
        raise Nothing
    path = draw.choice(found)
    return path, content(path)


def another_interval(draw: Random, public: Path) -> None:
    path, said = certified(draw, public, "intervals")
    ends = said["intervals"][draw.choice(["lower", "upper"])]
    if not ends:
        raise Nothing
    at = draw.randrange(len(ends))
    ends[at] = draw.choice([None, 1]) if ends[at] is None else ends[at] + draw.choice([-1, 1])
    put(path, said)


def a_bound_of_another_kind(draw: Random, public: Path) -> None:
    """A fraction, a text or a logical value in the place of a number."""
    path, said = certified(draw, public, "intervals")
    ends = said["intervals"][draw.choice(["lower", "upper"])]
    found = [i for i, end in enumerate(ends) if end is not None]
    if not found:
        raise Nothing
    at = draw.choice(found)
    ends[at] = draw.choice([ends[at] + 0.25, str(ends[at]), bool(ends[at])])
    put(path, said)


def an_interval_less(draw: Random, public: Path) -> None:
    path, said = certified(draw, public, "intervals")
    if not said["intervals"]["lower"]:
        raise Nothing
    for column in said["intervals"].values():
        del column[0]
    put(path, said)


def of_certificate(has: str, change: Callable[[Any], Any]) -> Callable[[Random, Path], None]:
    def of(draw: Random, public: Path) -> None:
        path, said = certified(draw, public, has)
        put(path, said | {has: change(said[has])})

    of.__name__ = f"another_{has}"
    return of


def another_key(draw: Random, public: Path) -> None:
    path = some(draw, public, ".json")
    put(path, content(path) | {"p": 10})


def a_key_less(draw: Random, public: Path) -> None:
    path = some(draw, public, ".json")
    said = content(path)
    # without what is shown, a claim rests on its words alone, which are for people to read
    left = [key for key in said if key not in ("vintage", "where", "recorded", "shown")]
    del said[draw.choice(left)]
    put(path, said)


def of_figures(draw: Random, public: Path) -> None:
    path = some(draw, public, ".derived.json")
    said = content(path)
    put(path, said | {"decimals": said["decimals"] + 1})


def another_kind(draw: Random, public: Path) -> None:
    path = some(draw, public, ".derived.json")
    kinds = {"mean": "share", "share": "mean", "growth": "share", "index": "growth"}
    said = content(path)
    put(path, said | {"kind": kinds[said["kind"]]})


def attacked_apart(draw: Random, public: Path) -> None:
    if certified(draw, public, "tables")[1].get("sums"):
        raise Nothing  # what they tell of each other may be nothing
    for path in sorted(public.glob(f"*{CERTIFICATE}")):
        said = content(path)
        for key in ("tables", "sums", "refined_to"):
            said.pop(key, None)
        put(path, said)


def left_to_another_certificate(draw: Random, public: Path) -> None:
    found = sorted(public.glob(f"*{CERTIFICATE}"))
    if len(found) < 2:
        raise Nothing
    one, other = draw.sample(found, 2)
    name = one.name.removesuffix(CERTIFICATE) + ".csv"
    mine, theirs = content(one), content(other)
    if name not in mine["files"]:
        raise Nothing
    theirs["files"][name] = mine["files"].pop(name)
    put(one, mine)
    put(other, theirs)


def _shown(said: dict[str, Any]) -> dict[str, Any]:
    for key in ("k", "minimum", "base"):
        if key in said:
            return said | {key: said[key] * 7 + 1}
    raise Nothing


def _more_unlike(said: dict[str, Any]) -> dict[str, Any]:
    if "k" not in said:
        raise Nothing
    return said | {"unlike": said.get("unlike", 0) + 1, "lean_on_gaps": 0}


# ── files ───────────────────────────────────────────────────────────────────────────


def a_file_less(draw: Random, public: Path) -> None:
    draw.choice(sorted(public.iterdir())).unlink()


def a_file_more(draw: Random, public: Path) -> None:
    name = draw.choice(["notes.txt", "internal.csv", "p.json", ".hidden"])
    (public / name).write_text("secret", encoding="utf-8")
    path = some(draw, public, CERTIFICATE)
    said = content(path)
    put(path, said | {"files": said["files"] | {name: digest(public / name)}})


def a_folder(draw: Random, public: Path) -> None:
    (public / draw.choice(["more", "old.csv"])).mkdir()


#: Changes after which all digests are made anew.
SABOTAGES = (
    another_value,
    shown_after_all,
    hidden_after_all,
    a_line_less,
    a_line_twice,
    another_column,
    two_codes_changed_over,
    of_structure("decimals", lambda value: value + 1),
    of_structure("rounding", lambda _: 7),
    of_structure("nonnegative", lambda value: not value),
    of_structure("changed", lambda _: "rounding"),
    of_structure("intervals", lambda _: True),
    of_structure("measure", lambda value: value + "x"),
    of_structure("name", lambda value: value + "x"),
    another_parent,
    a_label_of_nothing,
    another_interval,
    a_bound_of_another_kind,
    an_interval_less,
    of_certificate("shown", _shown),
    of_certificate("shown", _more_unlike),
    of_certificate("shown", lambda said: said | {"additive": True}),
    of_certificate("columns", lambda columns: columns[::-1]),
    of_certificate("records", lambda number: number + 1),
    of_certificate("family", lambda family: "rounding" if family != "rounding" else "cell_key"),
    of_certificate("difference", lambda said: said | {"value": said["value"] + 1}),
    of_certificate("refined_to", lambda _: "atoms"),
    another_key,
    a_key_less,
    of_figures,
    another_kind,
    attacked_apart,
    left_to_another_certificate,
    a_file_less,
    a_file_more,
    a_folder,
)


def kinds() -> Iterator[str]:
    """Their names, for messages."""
    return (change.__name__ for change in SABOTAGES)
