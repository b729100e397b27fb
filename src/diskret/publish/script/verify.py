#!/usr/bin/env python3
"""Check a folder of published statistics; nothing but this file and Python is needed.

    python verify.py FOLDER
    python verify.py FOLDER --cell "firms: region=N, size=a"    what an outsider knows of that cell
    python verify.py FOLDER --release OTHER                     a release that this one refers to

Written from the description of the format (format.md of diskret); it shares nothing with diskret.
All arithmetic is exact. It ends with 0 if all that was checked held, with 1 if something did not,
with 2 if it was called in a wrong way; and says what it did not check.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import chain, combinations, permutations, product
from math import ceil, floor, gcd
from pathlib import Path

MOST = 300  # hidden cells that equations tie together, up to which intervals are computed
HELD, WRONG, UNCHECKED = [], [], defaultdict(list)

class Wrong(Exception):
    """Something does not hold."""

def attempt(check, *given):
    try:  # what is wrong is noted, and other checks go on
        return check(*given)
    except Wrong as error:
        WRONG.append(str(error))
    except (LookupError, TypeError, ValueError, AttributeError, OSError, RecursionError) as error:
        WRONG.append(f"{check.__name__}: cannot be understood ({type(error).__name__}: {error})")

def require(holds, words):
    if not holds:
        raise Wrong(words)

# ── JSON, CSV, digests ────────────────────────────────────────────────────────────────

FIELD = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|\Z)')
FORMULA = re.compile("[=@+\\-\t\r\uff1d\uff20\uff0b\uff0d]")
HARMLESS = re.compile(r"[+\-][0-9]*(?:[.,][0-9]+)*(?:[eE][+\-]?[0-9]+)?\Z")

def read_json(path, keys, kind, name):
    """A JSON file of a kind, with these keys, see `has_keys`; a number with a point is a fraction."""
    def once(pairs):
        require(len(dict(pairs)) == len(pairs), f"{path.name}: a key is there twice")
        return dict(pairs)
    options = {"object_pairs_hook": once, "parse_float": Fraction, "parse_constant": Fraction}
    said = has_keys(json.loads(path.read_bytes().decode("utf-8"), **options), keys, path.name)
    known = (said["schema"], said["name"]) == (f"diskret/{kind}/1", name)
    require(known, f"{path.name}: is of another version, or not about {name!r}")
    return said

def has_keys(content, keys, where):
    """Refuse an object with other keys, or without one that has no question mark."""
    known, needed = ({key.rstrip(end) for key in keys.split()} for end in ("?", ""))
    odd = sorted({*content} - known | {key for key in needed - {*content} if key[-1] != "?"})
    require(not odd, f"{where}: keys that are too many or missing: {', '.join(odd)}")
    return content

def read_csv(path):
    """Names of the columns, and rows of texts; an empty field without quotes is None."""
    text, rows, row, at = path.read_bytes().decode("utf-8"), [], [], 0
    while at < len(text):
        found = FIELD.match(text, at)
        require(found, f"{path.name}, line {len(rows) + 1}: is no CSV")
        quoted, plain, end = found.groups()
        row.append((plain or None) if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if end != ",":
            rows.append(row)
            row = []
    require(rows and len({*map(len, rows)}) == 1, f"{path.name}: has lines of different lengths")
    def runs(text):
        return bool(FORMULA.match(text)) and not HARMLESS.match(text)
    texts = {text for row in rows for text in row if text}
    marked = {text: text[1:] for text in texts if text[0] == "'" and runs(text.lstrip("'"))}
    if marked and not any(map(runs, texts)):
        rows = [[marked.get(text, text) for text in row] for row in rows]
    return rows[0], rows[1:]

def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()

# ── certificates and files ────────────────────────────────────────────────────────────

CERTIFICATE, SIGNED = ".certificate.json", "signed.sha256"
NEEDED = "schema family name software claimed not_claimed files inputs"
KEYS = dict.fromkeys(("rounding", "cell_key", "invariant", "adjustment"), " shown? difference?")
KEYS |= dict.fromkeys(("microdata", "safe"), " records columns shown?")
KEYS["suppression"] = " attacker intervals tables? beside? sums? refined_to? outer_intervals?"
KEYS["suppression"] += " single_equations? difference?"
MADE = {  # what says how something is made of tables → its keys
    ".derived.json": "schema name kind decimals inputs of? base?",
    ".combined.json": "schema name parts", ".previous.json": "schema name table previous"}
READ = (".csv", ".structure.json", CERTIFICATE, *MADE)
ENDS = ".parquet .xlsx .html .px .jsonstat.json .sdmx1.csv .sdmx2.csv .dta .sav .xpt .geojson "
ENDS = f"{ENDS} .geo.parquet .gpkg .map.html".split()

def read_certificate(path):
    family, name = json.loads(path.read_bytes())["family"], path.name.removesuffix(CERTIFICATE)
    require(family in KEYS, f"{path.name}: is of no known family")
    said = read_json(path, NEEDED + KEYS[family], "certificate", name)
    inputs = "records released" if "columns" in said else "table?"
    marks = chain(said["files"].values(), has_keys(said["inputs"], inputs, f"{path.name}, inputs").values())
    right = all(re.fullmatch("[0-9a-f]{64}", mark) for mark in marks) and said.get("outer_intervals", 1) > 0
    right = right and said.get("attacker", "outsider") in ("outsider", "informed", "contributor")
    right = right and re.fullmatch(r"diskret [0-9][0-9a-z.+]{,40}", said["software"])
    require(right, f"{path.name}: lists what is no digest, or names no attack or no release of diskret")
    for key in ("claimed", "not_claimed"):
        both = has_keys(said[key], "en de", f"{path.name}, {key}")
        require(len(both["en"]) == len(both["de"]), f"{path.name}: {key} differs by language")
    UNCHECKED["what is claimed in words, and against whom: read it, diskret verify compares it"].append(name)
    UNCHECKED["fingerprints of the original data, which need the office's key"].append(name)
    return {name: said}

def check_files(folder, certificates):
    """The certificates list all files and nothing else; a signature does, if there is one."""
    there, listed = {}, {}
    for path in sorted(folder.iterdir()):
        plain = path.is_file() and not path.is_symlink()
        lock = re.match(r"~\$|\.~lock\..*#$", path.name)  # beside a file that is open
        if not (plain and lock and path.stat().st_size <= 1024):
            require(plain, f"{path.name}: is a link or a folder")
            there[path.name] = sha256(path)
    if there.pop(SIGNED, None):
        lines = re.findall(r"^([0-9a-f]{64}) [ *](.+)$", (folder / SIGNED).read_text("utf-8"), re.M)
        require({name: mark for mark, name in lines} == there, f"{SIGNED}: lists other files")
        UNCHECKED["who signed, and whether the signature is good"].append(SIGNED)
    for name, mark in chain(*(said["files"].items() for said in certificates.values())):
        require(listed.setdefault(name, mark) == mark, f"certificates list different digests of {name}")
    own = {name: mark for name, mark in there.items() if not name.endswith(CERTIFICATE)}
    wrong = [name for name in {**own, **listed} if own.get(name) != listed.get(name)]
    require(not wrong, f"changed, missing, or in no certificate: {', '.join(wrong)}")
    HELD.append(f"{len(own)} files have the digests that the certificates list")
    stems = [*certificates, *(n.removesuffix(end) for n in own for end in MADE if n.endswith(end))]
    require(len({*stems}) == len(stems), "two things have the same name")
    for name in there:
        end = next((e for e in (*READ, *ENDS) if name.endswith(e) and name[: -len(e)] in stems), "")
        stem = "" if end == CERTIFICATE else name.removesuffix(end)
        require(name in certificates.get(stem, {"files": name})["files"], f"{stem} does not list {name}")
        require(end or name[-5:] == ".xlsx" or name == "verify.py", f"{name}: belongs to nothing here")
        if end not in READ:
            UNCHECKED["what these files hold, beyond that they were certified"].append(name)

# ── tables ────────────────────────────────────────────────────────────────────────────

class Table:
    """A published table; cells are numbered with the last dimension fastest.

    every: the codes of each cell. place: codes → number. value, lower, upper: whole units of the
    last decimal, None where there is none. text, status: as in the CSV.
    """

    def __init__(self, folder, name):
        keys = "schema name measure frequency decimals nonnegative vintage? where? recorded? "
        where, keys = f"{name}.structure.json", f"{keys} rounding? intervals? changed? dimensions"
        said, self.name = read_json(folder / where, keys, "structure", name), name
        self.measure, self.decimals, self.axes = said["measure"], said["decimals"], said["dimensions"]
        self.rounding, self.recorded = said.get("rounding", 1), said.get("recorded", False)
        self.where, self.changed = said.get("where", {}), said.get("changed", "")
        self.nonnegative = said["nonnegative"] or said["frequency"]
        self.kind = self.measure, said.get("vintage", "")
        right = 0 <= self.decimals <= (0 if said["frequency"] else 18)
        right = right and said.get("rounding", 2) > 1 and said.get("changed", "x") in (*KEYS, "x")
        right = right and said.get("recorded", True) is said.get("intervals", True) is True
        flags = type(said["frequency"]) is type(said["nonnegative"]) is bool
        require(right and flags, f"{where}: has values that are not possible")
        self.dims, self.codes = ([axis[key] for axis in self.axes] for key in ("name", "codes"))
        self.parents = [tree(axis, where) for axis in self.axes]
        columns = [*self.dims, self.measure, "status", *["lower", "upper"] * ("intervals" in said)]
        require(self.dims and len({*columns}) == len(columns), f"{where}: names a column twice")
        self.every, self.status = [*product(*self.codes)], None
        self.place = {codes: cell for cell, codes in enumerate(self.every)}
        if (folder / f"{name}.csv").exists() or not (folder / f"{name}.parquet").exists():
            self._read(f"{name}.csv", columns, *read_csv(folder / f"{name}.csv"))
        else:
            UNCHECKED["the cells of tables without CSV"].append(name)

    def _read(self, file, columns, names, rows):
        require(names == columns, f"{file}: has other columns than its structure says")
        form = "-?[0-9]+" + rf"\.[0-9]{{{self.decimals}}}" * bool(self.decimals)
        self.value, self.lower, self.upper, self.status, self.text = ([None] * len(self.every) for _ in range(5))

        def number(text):
            require(text is None or re.fullmatch(form, text), f"{text!r} is no such number")
            return None if text is None else int(text.replace(".", ""))

        for line, row in enumerate(rows, 2):
            codes, (text, status, *ends) = row[: len(self.dims)], row[len(self.dims) :]
            try:
                cell, value, hidden = self.place[tuple(codes)], number(text), text is None
                require(self.status[cell] is None, "the cell is there twice")
                require(status in (("suppressed",) if hidden else ("published", "empty")), "status")
                right = not value or (status != "empty" and value % self.rounding == 0)
                right = right and not (value and value < 0 and self.nonnegative)
                require(right and (hidden or {*ends} <= {None}), "what is shown is not possible")
                self.lower[cell], self.upper[cell] = [*map(number, ends)] or (None, None)
            except (Wrong, KeyError) as error:
                raise Wrong(f"{file}, line {line}: {error}") from None
            self.value[cell], self.status[cell], self.text[cell] = value, status, text
        require(None not in self.status, f"{file}: {self.status.count(None)} cells are missing")

    def hidden(self):
        return [i for i, status in enumerate(self.status or ()) if status == "suppressed"]

    def named(self, cell):
        return f"{self.name}: " + ", ".join(map("=".join, zip(self.dims, self.every[cell])))

def tree(axis, where):
    """Positions of the parents of codes, -1 for the total."""
    has_keys(axis, "name codes parents labels translations? members?", where)
    codes, place = axis["codes"], {code: i for i, code in enumerate(axis["codes"])}
    above = [-1, *(place[code] for code in axis["parents"][1:])]
    right = len(place) == len(codes) == len(above) and axis["parents"][0] is None
    named = chain(axis["labels"], *axis.get("translations", {}).values(), axis.get("members", ()))
    right = right and all(parent < i for i, parent in enumerate(above)) and {*named} <= {*codes}
    require(right, f"{where}: the codes of {axis['name']} are no tree, or others have labels")
    return above

# ── equations ─────────────────────────────────────────────────────────────────────────

class Together:
    """Cells of tables that are read together as numbers, and the equations between them.

    place: what a cell is → its number. cell: a table and the cell there. at: for each table the
    numbers of its cells. low, high: bounds, None where there is none; value: None if unknown.
    rows: {number: coefficient}, constant: coefficients · numbers + constant = 0, of unknown ones.
    within: number → its rows. exact: whether this is all that an outsider can use. It is not where
    conditions ask for numbers, or codes are cut through, missing elsewhere, or perhaps groups.
    """

    def __init__(self, tables, sums=()):
        self.place, self.cell, self.at, self.within = {}, [], [], defaultdict(list)
        self.low, self.high, self.value, self.rows, self.exact = [], [], [], [], True
        of, found = [{*t.dims, *t.where} for t in tables], {}
        for name in set().union(*of) if len(tables) > 1 else ():
            found |= self._base_codes(tables, name)
        for table, (other, own) in product(tables, zip(tables, of)):
            # that all records are no less than those that a condition lets through is not used
            self.exact &= table.kind != other.kind or table.where.keys() <= own
        for i, table in enumerate(tables):
            alone = ([j or None for j in range(len(codes))] for codes in table.codes)
            axes = [found.get((i, name), own) for name, own in zip(table.dims, alone)]
            more = [(n, found[i, n][0]) for n in table.where if n not in table.dims and found]
            low = 0 if all(t.nonnegative for t in tables if t.kind == table.kind) else None
            numbers = [self._number(table, cell, [*zip(table.dims, codes), *more], low)
                       for cell, codes in enumerate(product(*axes))]
            self.at.append(numbers)
        for table, numbers in zip(tables, self.at):
            step = len(numbers)
            for name, parents in zip(table.dims, table.parents):
                step //= len(parents)
                below = defaultdict(list)
                for i, above in enumerate(parents):
                    below[above].append(i)
                for cell, whole in enumerate(numbers):
                    code = cell // step % len(parents)
                    parts = [numbers[cell + (i - code) * step] for i in below.get(code, ())]
                    self._equation(whole, parts, f"its parts by {name}")
        for total, right in (text.split(" = ") for text in sums):
            for (measure, vintage), own in [key for key in self.place if key[0][0] == total]:
                kinds = [((part, vintage), own) for part in right.split(" + ")]
                parts = [self.place[kind] for kind in kinds if kind in self.place]
                if len(parts) == len(kinds):
                    self._equation(self.place[(measure, vintage), own], parts, right)
                self.exact &= len(parts) in (0, len(kinds))

    def _base_codes(self, tables, name):
        """(table, name) → what each code of a variable stands for; None is everything."""
        trees, only, found = {}, {}, {}
        for i, table in enumerate(tables):
            if name in table.dims:
                k = table.dims.index(name)
                trees[i] = leaf_texts(table.axes[k], table.parents[k])
            if name in table.where:
                asked = table.where[name]
                only[i] = frozenset(asked if isinstance(asked, list) else asked["codes"])
        every = {own[0] for own in trees.values()}
        numeric = any(re.search("^[≥≤] | to ", code) for codes in only.values() for code in codes)
        for i in trees.keys() | only.keys():
            let, own = only.get(i), trees.get(i, [None])[1:]
            if let is not None:
                own = [(let, of) if numeric else let & of for of in own]
            found[i, name] = [let, *own]
            self.exact &= frozenset() not in own and all((let or frozenset()) <= of for of in every)
        same = len({*map(tuple, trees.values())}) < 2
        self.exact &= len(every) < 2 and not numeric
        self.exact &= same or all(tables[i].recorded for i, _ in found)
        for one, other in permutations(trees.values(), 2):
            self.exact &= all(of in other for of in finest(one) if not any(of <= b for b in finest(other)))
        return found

    def _number(self, table, cell, own, low):
        """The number of a cell, with what is known of it beforehand."""
        key = table.kind, frozenset(one for one in own if one[1] is not None)
        at, value = self.place.setdefault(key, len(self.cell)), table.value[cell]
        if at == len(self.cell):
            self.cell.append((table, cell))
            for of in (self.low, self.high, self.value):
                of.append(None)
        half, known = table.rounding // 2, [(low, None), (table.lower[cell], table.upper[cell])]
        if value is not None and half and table.status[cell] != "empty":
            known.append((value - half, value + half))
        elif value is not None:
            where = f"{table.named(cell)} and {self.cell[at][0].named(self.cell[at][1])}"
            require(self.value[at] in (None, value), f"{where}: are one cell with two values")
            self.value[at] = value
        for low, high in known:
            self.low[at] = max((e for e in (low, self.low[at]) if e is not None), default=None)
            self.high[at] = min((e for e in (high, self.high[at]) if e is not None), default=None)
        return at

    def _equation(self, whole, parts, words):
        """The whole is the sum of its parts, if it has any."""
        row, constant = Counter(), 0
        for at, sign in ((whole, 1), *((at, -1) for at in parts)) if parts else ():
            row[at] += sign * (self.value[at] is None)
            constant += sign * (self.value[at] or 0)
        row = {at: sign for at, sign in row.items() if sign}
        table, cell = self.cell[whole]
        require(row or not constant, f"{table.named(cell)}: misses the sum of {words} by {constant}")
        for at in row:
            self.within[at].append(len(self.rows))
        self.rows += [(row, constant)] if row else []

    def tied(self, at):
        """All numbers that equations tie to one, and these equations."""
        seen, rows, waiting = {at}, set(), [at]
        while waiting:
            for r in self.within[waiting.pop()]:
                waiting += self.rows[r][0].keys() - seen if r not in rows else ()
                seen |= self.rows[r][0].keys()
                rows.add(r)
        return seen, [self.rows[r] for r in sorted(rows)]

def finest(codes):
    return [one for one in codes if not any(other < one for other in codes)]

def leaf_texts(axis, parents):
    """The finest codes of each code of a dimension, or what these were combined from."""
    codes, members, inner = axis["codes"], axis.get("members", {}), {*parents}
    found = [set() if i in inner else {*(members.get(c) or [c])} for i, c in enumerate(codes)]
    for i in reversed(range(1, len(codes))):
        found[parents[i]] |= found[i]
    return [*map(frozenset, found)]

# ── what an outsider knows: a small exact simplex ─────────────────────────────────────

class Simplex:
    """Numbers of at least 0 that satisfy equations, at a corner of all there are.

    rows: basic column → {column: whole number}, the right side under None; the basic column has a
    number above 0, and is 0 in the other rows.
    """

    def __init__(self):
        self.rows = {}

    def equation(self, terms, right):
        """One more equation; refused if there are no such numbers."""
        row = self._reduced({**terms, None: right})
        if row[None] < 0:
            row = {column: -number for column, number in row.items()}
        while row[None]:  # what the equation lacks is lowered to 0
            column = min((j for j in row if j is not None and row[j] > 0), default=None)
            require(column is not None, "the equations contradict each other")
            first = self._first(column)
            by = self.rows.get(first)
            if by is None or row[None] * by[column] <= by[None] * row[column]:
                break
            self._pivot(first, column, by)
            row = without(row, column, self.rows[column])
        columns = [j for j in row if j is not None and (row[j] > 0 or not row[None])]
        if columns:
            column = min(columns)
            sign = 1 if row[column] > 0 else -1
            self._pivot(None, column, {j: sign * number for j, number in row.items()})

    def most(self, terms):
        """The largest value of a sum of columns; None if there is none."""
        goal = self._reduced({**{j: -number for j, number in terms.items()}, "goal": 1, None: 0})
        while True:
            lifts = (j for j in goal if j not in (None, "goal") and goal[j] < 0)
            column = min(lifts, default=None)
            if column is None:
                return Fraction(goal[None], goal["goal"])
            first = self._first(column)
            if first is None:
                return None
            self._pivot(first, column, self.rows[first])
            goal = without(goal, column, self.rows[column])

    def _reduced(self, row):
        for column in [j for j in row if j in self.rows]:
            row = without(row, column, self.rows[column])
        return row

    def _first(self, column):
        """The basic column that comes to 0 first if another one grows (Bland's rule)."""
        rows = [(b, row[None], row[column]) for b, row in self.rows.items() if row.get(column, 0) > 0]
        return min(rows, key=lambda one: (Fraction(one[1], one[2]), one[0]), default=[None])[0]

    def _pivot(self, basic, column, row):
        """A column takes the place of a basic one in its row, which has a number above 0 there."""
        self.rows.pop(basic, None)
        for other, own in self.rows.items():
            if column in own:
                self.rows[other] = without(own, column, row)
        self.rows[column] = row

def without(row, column, by):
    """A row without a column, by means of another one, which has a number above 0 there."""
    times, unit = row.get(column, 0), by[column]
    common = gcd(times, unit)
    times, unit = times // common, unit // common
    made = {j: number * unit for j, number in row.items()}
    for j, number in by.items():
        made[j] = made.get(j, 0) - number * times
    common = gcd(*made.values()) if unit > 1 else 1
    return {j: number // common for j, number in made.items() if number or j is None}

class Possible:
    """All values of numbers that equations tie together."""

    def __init__(self, found, numbers, rows):
        self.simplex, self.terms, self.shift = Simplex(), {}, {}
        for at in sorted(numbers):
            low, high = found.low[at], found.high[at]
            self.shift[at] = next((end for end in (low, high) if end is not None), 0)
            up = {(at, 0): 1} if low is not None or high is None else {}
            self.terms[at] = up if low is not None else {**up, (at, 1): -1}
            if low is not None and high is not None:
                self.simplex.equation({(at, 0): 1, (at, 2): 1}, high - low)
        for row, constant in rows:
            terms = {j: n * row[at] for at in row for j, n in self.terms[at].items()}
            self.simplex.equation(terms, -constant - sum(row[at] * self.shift[at] for at in row))

    def interval(self, at):
        """The smallest and largest value, rounded inwards; None where nothing bounds it."""
        low = self.simplex.most({j: -number for j, number in self.terms[at].items()})
        high = self.simplex.most(self.terms[at])
        low = None if low is None else ceil(self.shift[at] - low)
        return low, None if high is None else floor(self.shift[at] + high)

def check_hidden(names, tables, certificates, wanted):
    """Tables that were attacked together: equations, and what an outsider knows."""
    first, possible = certificates[names[0]], {}
    for name, key in product(names, ("tables", "sums", "beside", "refined_to")):
        same = (certificates[name].get(key) or None) == (first.get(key) or None)
        require(same and not tables[name].changed, f"{name}: says another {key}, or was changed")
    found = Together([tables[name] for name in names], first.get("sums", ()))
    exact = found.exact and first.get("refined_to") != "combinations" and "beside" not in first
    right = first.get("refined_to") == (None if len(names) == 1 else "equations") or not exact
    require(right, f"{names[0]}: refined_to is not how these tables are tied")
    hidden = ([at[cell] for cell in tables[name].hidden()] for name, at in zip(names, found.at))
    for at in chain(found.within, *hidden):
        if at not in possible:
            tied, rows = found.tied(at)
            possible |= dict.fromkeys(tied, len(tied) <= MOST and Possible(found, tied, rows))
    HELD.append(f"{', '.join(names)}: all equations can hold between what is published")
    for name, numbers in zip(names, found.at):
        said, table, as_stated, stated = certificates[name], tables[name], 0, certificates[name]["intervals"]
        *codes, lower, upper = (stated.pop(key) for key in (*table.dims, "lower", "upper"))
        right = [*zip(*codes)] == [table.every[cell] for cell in table.hidden()] and not stated
        right = right and {*map(type, lower + upper)} <= {int, Fraction, type(None)}
        require(right, f"{name}: the intervals are not those of the hidden cells")
        for cell, *ends in zip(table.hidden(), lower, upper, strict=True):
            at, called, outer = numbers[cell], table.named(cell), "outer_intervals" in said
            UNCHECKED["whether requirements are met: the witnesses that prove it stay with the office"].append(called)
            if not possible[at]:
                UNCHECKED[f"what more than {MOST} cells with equations tell"].append(called)
                continue
            known = possible[at].interval(at) if (value := found.value[at]) is None else (value, value)
            ends = tuple(None if end is None else end * 10**table.decimals for end in ends)
            wide = (None in of or of[1] - of[0] >= n for of, n in ((known, table.rounding), (ends, 0)))
            require(all(wide), f"{called}: is known exactly")
            sides = zip((-1, 1), *((ends, known) if outer else (known, ends)))
            inside = all(o is None or (e is not None and s * e <= s * o) for s, o, e in sides)
            right = inside if outer or not exact else ends == known
            require(right or (outer and not exact), f"{called}: lies in {known}, not in {ends}")
            if called in wanted:
                HELD.append(f"{called}: {known}, in units of the last decimal; None: no bound")
            if outer or not exact:
                UNCHECKED["whether these intervals are as narrow as stated"].append(called)
            as_stated += exact and not outer
        told = f"the intervals of {as_stated} of {len(lower)} hidden cells are as stated"
        HELD.append(f"{name}: {told if lower else 'no cell is hidden'}")

def check_apart(others, tables):
    """Tables that show something of the same records were attacked together."""
    for one, other in product(others, tables):
        lists = ((one.where[name], other.where[name]) for name in one.where if name in other.where)
        apart = one.kind != other.kind or any(not {*a} & {*b} for a, b in lists) or one.changed
        require(apart, f"{one.name} and {other.name}: have common cells, but were attacked apart")

def check_changed(table, said):
    """Values that were changed: multiples of the base, and totals where they add up."""
    shown = has_keys(said.get("shown", {}), "method? base? additive?", table.name)
    require(table.changed == said["family"], f"{table.name}: values were changed otherwise")
    unit = shown.get("base", 0) * 10**table.decimals
    for cell in [i for i, status in enumerate(table.status or ()) if status == "published"]:
        large = shown.get("method") == "small_counts" and abs(table.value[cell]) >= unit
        right = not unit or large or table.value[cell] % unit == 0
        require(right, f"{table.named(cell)}: is no multiple of the base")
    Together([table] if shown.get("additive") else [])
    HELD.append(f"{table.name}: values are such as the certificate says")

# ── what is made of tables ────────────────────────────────────────────────────────────

def of_release(name, files, releases):
    """The table with these digests in another release; None if it is in none of these."""
    for folder in releases:
        if all((folder / f).is_file() and sha256(folder / f) == mark for f, mark in files.items()):
            return Table(folder, name)
    return None

def decimal(value, decimals):
    digits = f"{abs(value):0{decimals + 1}d}"
    point = len(digits) - decimals
    return "-" * (value < 0) + digits[:point] + ("." + digits[point:]) * bool(decimals)

def derived(name, said, tables, releases):
    """Columns and rows of a derived figure; None if a release is missing."""
    inputs = [of_release(one["table"], one["files"], releases) if "files" in one
              else tables[one["table"]] for one in said["inputs"]]
    if None in inputs:
        return None
    kind, of, index = said["kind"], said.get("of", ()), said["kind"] == "index"
    base = next((t for t in inputs if t.kind[1] == said.get("base")), inputs[-1])
    rows = []
    for top in inputs if index else inputs[:1]:
        for codes, up in zip(top.every, top.value):
            at = tuple(own[0] if dim in of else code
                       for own, dim, code in zip(top.codes, top.dims, codes))
            down, text = base.value[base.place[at]], None
            if None not in (up, down) and down > 0:
                figure = Fraction(up * 10**base.decimals, down * 10**top.decimals)
                figure = figure if kind == "mean" else 100 * (figure - (kind == "growth"))
                places = said["decimals"]
                text = decimal(floor(figure * 10**places + Fraction(1, 2)), places)
            status = "suppressed" if None in (up, down) else "published" if text else "empty"
            rows.append([*[top.kind[1]] * index, *codes, text, status])
    return [*["period"] * index, *base.dims, name, "status"], rows

def side_by_side(name, said, folder):
    """Columns and rows of several files beside each other."""
    names = rows = None
    for part in said["parts"]:
        own, cells = read_csv(folder / f"{part}.csv")
        k = own.index("status") + 1
        cells = sorted(cells, key=lambda row: row[: k - 2])
        names, rows = names or own[: k - 2], rows or [row[: k - 2] for row in cells]
        names, rows = [*names, part, f"{part}_status"], [a + b[k - 2 : k] for a, b in zip(rows, cells)]
    return names, rows

def difference(now, before):
    """Rows of what one table shows otherwise than another one of the same variables."""
    turn = [before.dims.index(dim) for dim in now.dims]
    old = {tuple(codes[i] for i in turn): cell for cell, codes in enumerate(before.every)}
    for codes, text, status, value in zip(now.every, now.text, now.status, now.value):
        cell = old.pop(codes, None)
        then = [None if cell is None else of[cell] for of in (before.text, before.status, before.value)]
        same = None in (value, then[2]) or value * 10**before.decimals == then[2] * 10**now.decimals
        if status != then[1] or not same:
            yield [*codes, then[0], then[1] or "absent", text, status]
    for codes, cell in old.items():
        yield [*codes, before.text[cell], before.status[cell], None, "absent"]

def check_made(folder, path, tables, certificates, releases):
    """A derived figure, tables side by side, or a difference: computed again."""
    end = next(end for end in MADE if path.name.endswith(end))
    kind, name = {".previous.json": "difference"}.get(end, end[1:-5]), path.name.removesuffix(end)
    said = read_json(path, MADE[end], kind, name)
    names, rows = read_csv(folder / f"{name}.csv")
    if kind == "combined":
        expected = side_by_side(name, said, folder)
        rows = sorted(rows, key=lambda row: row[: len(names) - 2 * len(said["parts"])])
    elif kind == "derived":
        expected = derived(name, said, tables, releases)
    else:
        now, sides = tables[said["table"]], ["previous", "previous_status", "now", "now_status"]
        before = of_release(now.name, said["previous"]["files"], releases)
        expected = before and ([*now.dims, *sides], [*difference(now, before)])
        told = Counter(
            "added" if was == "absent" else "removed" if to == "absent" else to
            if to == "suppressed" else "published" if was == "suppressed" else "value"
            for *_, was, _, to in rows)
        counts = ("value", "suppressed", "published", "added", "removed")
        own = {"name": name, **{key: told[key] for key in counts}}
        require(certificates[now.name].get("difference") == own, f"{now.name}: other changes")
        shown = {codes: [*of] for codes, *of in zip(now.every, now.text, now.status)}
        right = all(shown.get(tuple(row[:-4]), [None, "absent"]) == row[-2:] for row in rows)
        right = right and names == [*now.dims, *sides]
        require(right, f"{name}.csv: shows other values than {now.name}.csv")
    if expected:
        require((names, rows) == tuple(expected), f"{name}.csv: does not follow from the tables")
        HELD.append(f"{name}: follows from the tables")
    else:
        UNCHECKED["what refers to a release that was not given with --release"].append(name)

# ── records ───────────────────────────────────────────────────────────────────────────

def alike(rows, missing, gaps=True):
    """For each combination of values, how many records agree with it."""
    times, by_gaps, found = Counter(rows), defaultdict(list), Counter()
    if missing == "category":
        return times
    for row in times:
        by_gaps[tuple(value is None for value in row)].append(row)
    for own, other in product(by_gaps, repeat=2):
        if missing == "conservative" and any(own + other):
            found.update(dict.fromkeys(by_gaps[own], 1) if own == other else {})
        elif gaps or not any(b and not a for a, b in zip(own, other)):
            both, agree = [i for i, gap in enumerate(zip(own, other)) if not any(gap)], Counter()
            for row in by_gaps[other]:
                agree[tuple(row[i] for i in both)] += times[row]
            found.update({row: agree[tuple(row[i] for i in both)] for row in by_gaps[own]})
    return found

def check_records(folder, name, said):
    """Columns, number of records, and what anybody can count."""
    if not (folder / f"{name}.csv").exists() and (folder / f"{name}.parquet").exists():
        return UNCHECKED["records without CSV"].append(name)
    (names, rows), shown = read_csv(folder / f"{name}.csv"), said.get("shown", {})
    require(names == said["columns"] and len(rows) == said["records"], f"{name}.csv: has other columns or records than the certificate says")
    if said["family"] == "safe":
        has_keys(shown, "minimum tables largest by_size? by_size_in_file?", name)
        fewest, listed, most = min(Counter(map(tuple, rows)).values()), shown["tables"], shown["largest"]
        require(fewest >= shown["minimum"], f"{name}: a combination occurs {fewest} times only")
        sizes = shown.get("by_size", []) + shown.get("by_size_in_file", [])
        right = all(30 <= s["cells"] and s["mean"] <= s["largest"] <= most for s in sizes)
        right = right and {*chain(*chain(*listed.values())), *listed} <= {"", *names}
        require(right, f"{name}: shows deviations that are not possible")
        UNCHECKED["deviations from the original, which need the office's files"].append(name)
        return HELD.append(f"{name}: each combination occurs {shown['minimum']} times or more")
    for claim in [shown, *shown.pop("further", ())] if shown else ():
        has_keys(claim, "k keys missing size? unlike? lean_on_gaps?", f"{name}, shown")
        k, way = claim["k"], claim["missing"]
        records = [tuple(row[names.index(key)] for key in claim["keys"]) for row in rows]
        few = [[len(rows)] * len(rows) for _ in range(3)]
        for chosen in combinations(range(len(claim["keys"])), claim.get("size", len(claim["keys"]))):
            part = [tuple(record[i] for i in chosen) for record in records]
            for j, times in enumerate((alike(part, way), alike(part, "category"), alike(part, way, False))):
                few[j] = [min(least, times[row]) for least, row in zip(few[j], part)]
        require(min(few[0]) >= k, f"{name}: a record agrees with {min(few[0])} only, not {k}")
        unlike, lean = (sum(least < k for least in own) for own in few[1:])
        stated = claim.get("unlike", 0), claim.get("lean_on_gaps", 0)
        require(stated == (unlike, lean if unlike else 0), f"{name}: {unlike} are unlike, {lean} lean")
        HELD.append(f"{name}: each record agrees with {k} in {', '.join(claim['keys'])}")

# ── all of it ─────────────────────────────────────────────────────────────────────────

def check(options):
    folder, *releases = (
        one / "public" if (one / "public").is_dir() and not any(one.glob(f"*{CERTIFICATE}")) else one
        for one in map(Path, (options.folder, *options.release)))
    said, tables = {}, {}
    for path in sorted(folder.glob(f"*{CERTIFICATE}")):
        said |= attempt(read_certificate, path) or {}
    require(said, f"{folder}: holds no certificate that can be read")
    attempt(check_files, folder, said)
    for name, own in said.items():
        if "columns" in own:
            attempt(check_records, folder, name, own)
        elif table := attempt(Table, folder, name):
            tables[name] = table
            if own["family"] != "suppression":
                attempt(check_changed, table, own)
    groups = [own.get("tables", [n]) for n, own in said.items() if own["family"] == "suppression"]
    for names in dict.fromkeys(map(tuple, groups)):
        attempt(check_hidden, names, tables, said, options.cell)
        attempt(check_apart, [tables[name] for name in tables if name not in names], [tables[n] for n in names])
    for cell in [c for c in options.cell if not any(line.startswith(f"{c}: (") for line in HELD)]:
        UNCHECKED["what is no hidden cell, or tied to too many others"].append(cell)
    for path in sorted(path for end in MADE for path in folder.glob(f"*{end}")):
        attempt(check_made, folder, path, tables, said, releases)

def main():
    told = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    told.add_argument("folder")
    told.add_argument("--cell", action="append", default=[], metavar="TABLE: VARIABLE=CODE, …")
    told.add_argument("--release", action="append", default=[], metavar="OTHER")
    attempt(check, told.parse_args())
    for words, of in UNCHECKED.items():
        UNCHECKED[words] = f"{words}: {'; '.join([*of[:5], *['…'] * (len(of) > 5)])} ({len(of)})"
    code = sys.stdout.encoding or "utf-8"
    for head, lines in (("held", HELD), ("NOT CHECKED", UNCHECKED.values()), ("WRONG", WRONG)):
        for line in lines:
            print(f"{head}: {line}".encode(code, "replace").decode(code))
    return 1 if WRONG else 0

if __name__ == "__main__":
    sys.exit(main())
