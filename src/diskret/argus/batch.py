"""The batch language of τ-ARGUS: a job as a list of tables and of what is done with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path, PureWindowsPath
from typing import Literal

from diskret.argus.commands import (
    AprioriText,
    Batch,
    DataText,
    File,
    Recode,
    Suppress,
    TableText,
    Write,
)
from diskret.argus.rule_text import numbers, read_rules
from diskret.argus.text import Place, text_of, unquoted
from diskret.errors import JobError

_COMMAND = re.compile(r"<\s*(\w+)\s*>(.*)")
#: A variable: in quotes, or a word.
_NAME = re.compile(r'"([^"]*)"|([^\s",]+)')
#: Another command behind the first one; names in quotes, and <freq>, are none.
_ANOTHER = re.compile(r'"[^"]*"|<\s*(\w+)\s*>')
_CALL = re.compile(r"(\w+)\s*\(([^()]*)\)\s*(.*)")
_WRITE = re.compile(r'\(?\s*(\d+)\s*,\s*(\d+)\s*,(?:([^,]*),)?\s*("[^"]*"|[^"()]+)\s*\)?')
_OPTION = re.compile(r"\s*([A-Za-z]{2})\s*([+-])")
#: What follows a command, up to a comment; names in quotes may hold two slashes.
_SAID = re.compile(r'(?:"[^"]*"|(?!\s//).)*')
#: Ways to protect, and how many numbers each takes at most.
METHODS = {"GH": 4, "MOD": 8, "OPT": 2, "NET": 1, "RND": 7, "CTA": 1, "CKM": 1}
_ALSO = {"HYPERCUBE": "GH", "MODULAR": "MOD", "OPTIMAL": "OPT", "NETWORK": "NET"}
OPTIONS = ("AS", "SE", "FL", "QU", "HL", "SO", "AR", "HI", "TR", "AO", "AD", "AC")


def read_batch(path: Path) -> Batch:
    """Read a job; what cannot be understood is said with file, line and command."""
    reader = _Reader(path)
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith(("//", "\\\\")):
            reader.line(number, line)
    return reader.done()


class _Reader:
    """What has been read so far."""

    def __init__(self, path: Path):
        self.path = path
        self.place = Place(path, 1)
        self.logbook: File | None = None
        self.version: File | None = None
        self.interactive: Place | None = None
        self.cleared: list[Batch] = []
        self.fresh()
        self.known: dict[str, Callable[[str], None]] = {
            "LOGBOOK": self.log,
            "VERSIONINFO": self.info,
            "OPENMICRODATA": lambda text: self.open("records", text),
            "OPENTABLEDATA": lambda text: self.open("cells", text),
            "OPENMETADATA": self.metadata,
            "SPECIFYTABLE": self.specify,
            "SAFETYRULE": self.rules,
            "READMICRODATA": lambda text: self.read("records", text),
            "READTABLE": lambda text: self.read("cells", text),
            "APRIORI": self.apriori,
            "APRIORY": self.apriori,
            "RECODE": self.recode,
            "SUPPRESS": self.suppress,
            "WRITETABLE": self.write,
            "CLEAR": self.clear,
            "GOINTERACTIVE": self.go,
            "COMMENT": lambda text: None,
            # which solver is used, and how much is said on the screen, is not the job's to say here
            "SOLVER": lambda text: None,
            "ANCO": lambda text: None,
            "SILENT": lambda text: None,
        }

    def fresh(self) -> None:
        """Begin with nothing, as after CLEAR."""
        self.opened: list[tuple[Literal["records", "cells"], File, File | None]] = []
        self.tables: list[tuple[int, TableText]] = []  # with the number of its data
        self.way: dict[str, tuple[int, bool]] = {}
        self.recodes: list[Recode] = []
        self.apriories: list[AprioriText] = []
        self.suppresses: list[Suppress] = []
        self.writes: list[Write] = []

    def line(self, number: int, line: str) -> None:
        """Read one line that is neither empty nor a comment."""
        self.place = Place(self.path, number)
        found = _COMMAND.match(line)
        if found is None:
            raise JobError(
                f"{self.place}: {line[:60]!r} is no command; a line begins with a command in angle "
                "brackets, e.g. <OPENMICRODATA>, or with // if it is a comment"
            )
        keyword = found[1].upper()
        self.place = Place(self.path, number, keyword)
        if keyword in ("JJ", "COVER"):
            raise JobError(
                f"{self.place}: is for the inside of τ-ARGUS and cannot be carried out; remove it"
            )
        if keyword not in self.known:
            near = get_close_matches(keyword, self.known, 1)
            hint = f"did you mean <{near[0]}>?" if near else f"known are {', '.join(self.known)}"
            raise JobError(f"{self.place}: is no command; {hint}")
        said = _SAID.match(found[2])
        text = said[0].strip() if said else ""
        more = [name for name in _ANOTHER.findall(text) if name.upper() in self.known]
        if more and keyword != "COMMENT":
            raise JobError(
                f"{self.place}: <{more[0].upper()}> stands behind it in the same line; give every "
                "command a line of its own"
            )
        self.known[keyword](text)

    def done(self) -> Batch:
        """All of the job."""
        if not self.opened and not self.cleared:
            raise JobError(
                f"{self.path.name}: opens no data; begin with <OPENMICRODATA> or <OPENTABLEDATA>"
            )
        return Batch(
            self.path,
            self.data() if self.opened else (),
            tuple(self.recodes),
            tuple(self.apriories),
            tuple(self.suppresses),
            tuple(self.writes),
            self.logbook,
            self.version,
            self.interactive,
            tuple(self.cleared),
        )

    def data(self) -> tuple[DataText, ...]:
        """The data that were opened, with their tables."""
        found: list[DataText] = []
        for at, (kind, file, metadata) in enumerate(self.opened):
            tables = tuple(table for of, table in self.tables if of == at)
            if metadata is None:
                raise JobError(f"{file.place}: its metadata are not opened; add <OPENMETADATA>")
            if not tables:
                raise JobError(f"{file.place}: no table is made of it; add <SPECIFYTABLE>")
            found.append(DataText(kind, file, metadata, tables, *self.way.get(kind, (0, True))))
        return tuple(found)

    # ── one method for each command ─────────────────────────────────────────────────

    def log(self, text: str) -> None:
        self.logbook = self.file(text)

    def info(self, text: str) -> None:
        self.version = self.file(text)

    def open(self, kind: Literal["records", "cells"], text: str) -> None:
        if self.opened and (kind == "records" or self.opened[0][0] == "records"):
            # the same data named once more change nothing
            again = PureWindowsPath(self.file(text).name).name.casefold()
            if PureWindowsPath(self.opened[0][1].name).name.casefold() == again:
                return
            raise JobError(
                f"{self.place}: records are opened already; <CLEAR> ends what is done with them"
            )
        self.opened.append((kind, self.file(text), None))

    def behind_the_data(self) -> None:
        if not self.opened:
            raise JobError(
                f"{self.place}: stands before the data; put <OPENMICRODATA> or <OPENTABLEDATA> "
                "above it"
            )

    def metadata(self, text: str) -> None:
        self.behind_the_data()
        kind, file, _ = self.opened[-1]
        self.opened[-1] = (kind, file, self.file(text))

    def specify(self, text: str) -> None:
        self.behind_the_data()
        parts = [part.strip() for part in text.split("|")]
        by = tuple((quoted or word).strip() for quoted, word in _NAME.findall(parts[0]))
        if not by or len(parts) < 2 or not all(by):
            raise JobError(
                f"{self.place}: {text!r} names no table; write the variables, a bar and what is "
                'summed, e.g. "Size""Region"|"Turnover" or "Size"|"<freq>"'
            )
        folded = [name.casefold() for name in by]
        if len({*folded}) < len(folded):
            raise JobError(f"{self.place}: a variable stands twice in {parts[0]}")
        parts += [""] * (5 - len(parts))
        cost, comma, power = parts[3].partition(",")
        power = unquoted(power if comma else parts[4]) or "1"
        power = power.replace(",", ".") if re.fullmatch(r"\d+,\d+", power) else power
        table = TableText(
            len(self.tables) + 1,
            self.place,
            by,
            unquoted(parts[1]) or "<freq>",
            unquoted(parts[2]),
            unquoted(cost),
            numbers(power, self.place)[0],
        )
        self.tables.append((len(self.opened) - 1, table))

    def rules(self, text: str) -> None:
        if not self.tables:
            raise JobError(f"{self.place}: stands before its table; put <SPECIFYTABLE> above it")
        of, table = self.tables[-1]
        found = read_rules(text, self.place)
        self.tables[-1] = (of, replace(table, rules=found))

    def read(self, kind: Literal["records", "cells"], text: str) -> None:
        if not self.tables:
            raise JobError(f"{self.place}: there is no table yet; put <SPECIFYTABLE> above it")
        if any(one != kind for one, _, _ in self.opened):
            raise JobError(
                f"{self.place}: does not fit the data; <READMICRODATA> is for records and "
                "<READTABLE> for cells"
            )
        if kind == "cells":
            found = re.fullmatch(r"([012]?)\s*([TF]?)", text.strip('()" ').upper())
            if found is None:
                raise JobError(
                    f"{self.place}: {text!r} is none of 0 (totals add up), 1 (they are computed) "
                    "and 2 (they need not), perhaps with T or F for the status in the file"
                )
            way = int(found[1] or 0)
            self.way[kind] = (way, found[2] != "F")

    def apriori(self, text: str) -> None:
        name, rest = self.quoted_first(text)
        fields = re.findall(r'"[^"]*"|[^,"]+', rest)
        table = self.number(fields[0] if fields else "1")
        separator = fields[1] if len(fields) > 1 else ","
        # a blank or a tab in quotes is meant
        separator = separator[1:-1] if re.fullmatch('"."', separator) else unquoted(separator)
        ignore = fields[2].strip() != "0" if len(fields) > 2 else True
        separator = {"\\t": "\t", "": ","}.get(separator, separator)
        self.apriories.append(AprioriText(self.place, table, name, separator, ignore))

    def recode(self, text: str) -> None:
        fields = [unquoted(field) for field in text.strip("() ").split(",", 2)]
        if len(fields) < 3 or not all(fields):
            raise JobError(
                f"{self.place}: {text!r} is no recoding; write the number of the table, the "
                'variable, and a file or a level, e.g. 1,"Region","groups.grc" or 1,"Region",1'
            )
        level = int(fields[2]) if re.fullmatch("[0-9]", fields[2]) else 0
        file = "" if level else fields[2]
        table = self.number(fields[0])
        if any(one.table in (0, table) for one in self.suppresses):
            raise JobError(f"{self.place}: table {table} is protected already; recode it before")
        self.recodes.append(Recode(self.place, table, fields[1], file, level))

    def suppress(self, text: str) -> None:
        found = _CALL.fullmatch(text)
        method = _ALSO.get(found[1].upper(), found[1].upper()) if found else ""
        if found is None or method not in METHODS:
            raise JobError(
                f"{self.place}: {text!r} is no way to protect a table; write one of "
                f"{', '.join(METHODS)} with the number of the table, e.g. MOD(1,5,1,1,1)"
            )
        options = numbers(found[2], self.place)
        if not 1 <= len(options) <= METHODS[method]:
            raise JobError(
                f"{self.place}: {method} takes from 1 to {METHODS[method]} numbers, not "
                f"{len(options)}"
            )
        table = self.number(f"{options[0]:g}", linked=True)
        if table == 0 and method not in ("GH", "MOD"):
            raise JobError(
                f"{self.place}: {method} protects one table and 0 stands for all linked tables "
                "(τ-ARGUS would take the first or refuse); use MOD(0,...), or name a table"
            )
        files, more = self.noise_files(found[3]) if method == "CKM" else ((), ())
        self.suppresses.append(Suppress(self.place, method, table, (*options[1:], *more), files))

    def write(self, text: str) -> None:
        found = _WRITE.fullmatch(text)
        if found is None:
            raise JobError(
                f"{self.place}: {text!r} is no file to write; write table, type, options and file, "
                'e.g. (1,3,AS+FL+,"out.txt")'
            )
        asked = unquoted(found[3] or "")
        asked = "" if asked == "0" else asked  # no options, in the numbers of older versions
        options = {name.upper(): sign == "+" for name, sign in _OPTION.findall(asked)}
        if _OPTION.sub("", asked).strip() or not {*options} <= {*OPTIONS}:
            if re.fullmatch("[0-9]+", asked):
                raise JobError(
                    f"{self.place}: options by number, {asked}, are of older versions of τ-ARGUS; "
                    "write letters, e.g. AS+ for the status and SE+ to leave empty cells out"
                )
            raise JobError(
                f"{self.place}: the options {asked!r} are not known; they are "
                f"{', '.join(OPTIONS)}, each with + or -"
            )
        kind = int(found[2])
        if not 1 <= kind <= 7:
            raise JobError(f"{self.place}: {kind} is no type of file; types are 1 to 7")
        table = self.number(found[1])
        self.writes.append(Write(self.place, table, kind, options, unquoted(found[4])))

    def clear(self, text: str) -> None:
        if self.opened:
            done = self.done()
            self.cleared.append(replace(done, cleared=(), interactive=None))
        self.fresh()

    def go(self, text: str) -> None:
        self.interactive = self.place

    # ── parts of a line ─────────────────────────────────────────────────────────────

    def file(self, text: str) -> File:
        name = unquoted(text)
        if not name:
            raise JobError(f"{self.place}: names no file")
        return File(name, self.place)

    def quoted_first(self, text: str) -> tuple[str, str]:
        """A name at the beginning, and what stands after the comma."""
        found = re.match(r'\(?\s*("[^"]*"|[^,"]*)\s*,?', text)
        name = unquoted(found[1]) if found else ""
        if not found or not name:
            raise JobError(f"{self.place}: names no file")
        return name, text[found.end() :].rstrip(") ")

    def noise_files(self, text: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The perturbation tables of the cell key method, and the extra noise μ if it is said."""
        parts = [unquoted(part) for part in text.split("|")]
        if len(parts) > 3:
            raise JobError(
                f"{self.place}: {text!r} are no perturbation tables; write one, or that of sums, "
                'that of small cells and the extra noise, e.g. CKM(1) "sums.txt"|"small.txt"|0'
            )
        more = numbers(parts[2], self.place) if len(parts) == 3 and parts[2] else ()
        return tuple(parts[:2]) if any(parts[:2]) else (), more[:1]

    def number(self, text: str, linked: bool = False) -> int:
        """The number of a table that there is."""
        text = unquoted(text)
        count = len(self.tables)
        if re.fullmatch("[0-9]{1,6}", text) and (0 if linked else 1) <= int(text) <= count:
            return int(text)
        raise JobError(
            f"{self.place}: {text!r} is no number of a table; {count} tables are specified above"
        )
