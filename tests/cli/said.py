"""What the package says when something is wrong, found in its code without running it.

`messages` walks the code and gives every text that is handed to an error, a warning or a section
of a job, with gaps as ``{}``. Alternatives, names, constants, fields, functions and what callers
hand to them are followed. Texts that fill a gap of a message are given too, if they hold words.

``python tests/cli/said.py`` prints what has no German yet, as TOML ready to fill.
"""

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import product
from pathlib import Path

import diskret as dk

sys.path.append(str(Path(__file__).parents[1]))  # where it is run as a program
import garbage
from source import children, dotted, nodes, trees

SOURCE = Path(dk.__file__).parent
GAP = "{}"
_ENOUGH = 60  # alternatives of one text
_RAISED = ("warnings.warn", "type(error)", "wrong", "typer.BadParameter", "_log.warning")
#: Reports whose lines are shown, and where these stand among what is handed over.
_REPORTS = {"VerifyReport": 4, "AuditReport": sys.maxsize, "Checked": 0}
_WORDS = re.compile(r"[a-zA-Z]{2,} | [a-zA-Z]{2,}")
#: Conditions and expressions of databases, which are read by them and not by people.
_SQL = re.compile(
    r"\b(AND|BETWEEN|CAST|FLOOR|TRY_CAST|CASE|COALESCE|IN|IS|NOT|POSITION|ABS|TRIM)\b"
)
_FILES = {
    "protect", "publish", "ledger", "jobs", "tables", "attack", "cellkey", "io", "hierarchy",
    "rules", "engines", "risk", "utility", "safe", "keys", "microdata", "argus", "plan", "remote",
    "serve", "workbench",
}  # fmt: skip


#: Folders that read sections of TOML files.
SECTIONS = ("jobs", "plan", "remote", "serve")


def file_of(path: Path) -> str:
    """The file of the catalogue for messages of a module."""
    parts = path.relative_to(SOURCE).parts
    if {"microdata", "anonymize"} & {*parts[:2]}:
        return "microdata"
    return parts[0] if parts[0] in _FILES else "other"


class Code:
    """The code of the package: what its names mean."""

    def __init__(self):
        self.modules = trees()
        self.inside: dict[ast.AST, tuple[Path, ast.FunctionDef | None]] = {}
        self.functions: dict[str, list[ast.FunctionDef]] = {}
        self.constants: dict[str, list[tuple[Path, ast.expr]]] = {}
        self.imported: dict[tuple[Path, str], str] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.fields: dict[str, list[tuple[str, int]]] = {}
        self._known: dict[ast.expr, set[str]] = {}
        for path, tree in self.modules.items():
            self._place(tree, path, None)
            for node in tree.body:
                for name, value in _assigned(node):
                    self.constants.setdefault(name, []).append((path, value))

    def _place(self, node: ast.AST, path: Path, function: ast.FunctionDef | None) -> None:
        for child in children(node):
            self.inside[child] = path, function
            if isinstance(child, ast.FunctionDef):
                self.functions.setdefault(child.name, []).append(child)
            elif isinstance(child, ast.Call):
                self.calls.setdefault(_last(child), []).append(child)
            elif isinstance(child, ast.ImportFrom) and child.module:
                for alias in child.names:
                    self.imported[path, alias.asname or alias.name] = child.module
            elif isinstance(child, ast.ClassDef):
                own = [n for n in child.body if isinstance(n, ast.AnnAssign)]
                for at, one in enumerate(own):
                    if ast.unparse(one.annotation) == "str":
                        place = self.fields.setdefault(ast.unparse(one.target), [])
                        place.append((child.name, at))
            self._place(child, path, child if isinstance(child, ast.FunctionDef) else function)

    @cached_property
    def errors(self) -> set[str]:
        """Names of the classes of errors that are raised on purpose."""
        known, before = {"DiskretError"}, 0
        classes = [
            node
            for tree in self.modules.values()
            for node in nodes(tree)
            if isinstance(node, ast.ClassDef)
        ]
        while len(known) > before:
            before = len(known)
            known |= {c.name for c in classes if {dotted(b) for b in c.bases} & known}
        return known

    def raised(self) -> Iterator[tuple[Path, ast.expr]]:
        """Every text handed to an error, a warning or a section of a job."""
        for path, tree in self.modules.items():
            for node in nodes(tree):
                if not isinstance(node, ast.Call) or not (node.args or node.keywords):
                    continue
                name, last = dotted(node.func), _last(node)
                if name in _REPORTS:
                    for lines in _given([node], "lines", _REPORTS[name]):
                        yield from ((path, line) for line in self.items(lines, set()))
                elif not node.args:
                    continue
                elif name in self.errors or name in _RAISED:
                    yield path, node.args[0]
                elif last in ("error", "unknown", "unfit") and file_of(path) in SECTIONS:
                    for text in node.args[1:2] if last == "unfit" else node.args[:1]:
                        yield path, text

    def alternatives(self, node: ast.expr) -> set[str]:
        """What a text may be; what is not text, or not known, is a gap."""
        if node not in self._known:
            self._known[node] = {GAP}  # what leads back to itself
            self._known[node] = self._alternatives(node)
        return self._known[node]

    def _alternatives(self, node: ast.expr) -> set[str]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return {_escaped(node.value)}
        if isinstance(node, ast.JoinedStr):
            return {"".join(map(part, node.values))}
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            both = [self.alternatives(side) for side in (node.left, node.right)]
            few = len(both[0]) * len(both[1]) < _ENOUGH
            return {a + b for a, b in product(*both)} if few else {GAP}
        if isinstance(node, ast.Lambda):
            return self.alternatives(node.body)
        if isinstance(node, ast.IfExp):
            return self.alternatives(node.body) | self.alternatives(node.orelse)
        if isinstance(node, ast.BoolOp):
            return set[str]().union(*(self.alternatives(v) for v in node.values))
        found = set[str]().union(*(self.alternatives(v) for v in self.meant(node)))
        return found if 0 < len(found) < _ENOUGH else {GAP}

    def meant(self, node: ast.expr) -> list[ast.expr]:
        """What a name, field or call stands for: assigned, handed over or returned."""
        path, function = self.inside[node]
        if isinstance(node, ast.Name):
            if function is not None:
                here = _inside(function).get(node.id, [])
                if here or node.id in _arguments(function):
                    return here or self._handed(function, node.id)
            home = self._home(path, node.id)
            named = self.constants.get(node.id, [])
            return [value for at, value in named if at == path or self._is(at, home)]
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id[:1].isupper():
                return []  # of a class, no field of a value
            ways = self.fields.get(node.attr, [])
            if len(ways) > 3:
                return []
            return [
                value
                for name, at in ways
                for value in _given(self.calls.get(name, []), node.attr, at)
            ]
        if isinstance(node, ast.Call):
            called = self._called(node)
            functions = [called] if called else self._callbacks(node)
            returned = (part for one in functions for part in nodes(one))
            return [r.value for r in returned if isinstance(r, ast.Return) and r.value]
        return []

    def _callbacks(self, call: ast.Call) -> list[ast.FunctionDef]:
        """The functions that callers hand to the function in which one of them is called."""
        _, function = self.inside[call]
        if not isinstance(call.func, ast.Name) or function is None:
            return []
        if call.func.id not in _arguments(function):
            return []
        handed = [one for one in self._handed(function, call.func.id) if isinstance(one, ast.Name)]
        return [
            found
            for one in handed
            for found in self.functions.get(one.id, [])
            if self.inside[found][0] == self.inside[one][0]
        ]

    def _home(self, path: Path, name: str) -> str:
        return self.imported.get((path, name), "")

    def _is(self, path: Path, module: str) -> bool:
        """Is a file this module, or of the folder that is imported?"""
        place = "diskret." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        return bool(module) and f"{place}.".startswith(f"{module}.")

    def _called(self, call: ast.Call) -> ast.FunctionDef | None:
        """The function of the package that is called, if its name tells which."""
        path, _ = self.inside[call]
        named = self.functions.get(_last(call), [])
        if isinstance(call.func, ast.Name):
            home = self._home(path, call.func.id)
            named = [f for f in named if self.inside[f][0] == path] or [
                f for f in named if self._is(self.inside[f][0], home)
            ]
        elif len(named) > 1:
            named = [f for f in named if self.inside[f][0] == path]
        return named[0] if len(named) == 1 else None

    def _handed(self, function: ast.FunctionDef, name: str) -> list[ast.expr]:
        """What callers hand to an argument of a function."""
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        at = names.index(name) if name in names else sys.maxsize
        calls = [c for c in self.calls.get(function.name, []) if self._called(c) is function]
        return _given(calls, name, at)

    def fillings(self, node: ast.expr, seen: set[object]) -> Iterator[str]:
        """Texts that fill gaps of a text, and gaps of these, if they hold words."""
        if node in seen:
            return
        seen.add(node)
        if isinstance(node, ast.JoinedStr):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    yield from self._wordy(value.value)
                    yield from self.fillings(value.value, seen)
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                yield from self.fillings(side, seen)
        elif isinstance(node, ast.IfExp):
            yield from self.fillings(node.body, seen)
            yield from self.fillings(node.orelse, seen)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self.fillings(value, seen)
        else:
            for value in self.meant(node):
                yield from self.fillings(value, seen)
            if isinstance(node, ast.Call):
                for item in (item for a in node.args for item in self.items(a, seen)):
                    yield from self._wordy(item)
                    yield from self.fillings(item, seen)

    def _wordy(self, node: ast.expr) -> Iterator[str]:
        for text in self.alternatives(node):
            own = text.replace(GAP, "")
            if _WORDS.search(own) and not _SQL.search(own):
                yield text

    def items(self, node: ast.expr, seen: set[object]) -> Iterator[ast.expr]:
        """What a list of texts holds."""
        if (node, "items") in seen:
            return
        seen.add((node, "items"))
        inner: Iterable[ast.expr] = ()
        if isinstance(node, (ast.List, ast.Tuple)):
            yield from (e for e in node.elts if not isinstance(e, ast.Starred))
            inner = [e.value for e in node.elts if isinstance(e, ast.Starred)]
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            yield node.elt
        elif isinstance(node, ast.Subscript):
            inner = [node.value]
        elif isinstance(node, ast.BinOp):
            inner = [node.left, node.right]
        elif isinstance(node, ast.IfExp):
            inner = [node.body, node.orelse]
        elif isinstance(node, ast.Name):
            inner = self.meant(node)
            for call in nodes(self.inside[node][1] or ast.Module([], [])):
                if isinstance(call, ast.Call) and dotted(call.func) == f"{node.id}.append":
                    yield from call.args
        elif isinstance(node, ast.Call):
            function = self._called(node)
            if function is not None:
                yields = (y for y in nodes(function) if isinstance(y, ast.Yield))
                yield from (y.value for y in yields if y.value is not None)
                inner = self.meant(node) + [
                    y.value for y in nodes(function) if isinstance(y, ast.YieldFrom)
                ]
            else:  # list, sorted, dict.fromkeys …
                inner = node.args
        for one in inner:
            yield from self.items(one, seen)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for name, value in zip(target.elts, node.value.elts, strict=False):
                    if isinstance(name, ast.Name):
                        yield name.id, value
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        if isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


@cache
def _inside(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What is assigned in a function, by name."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes(function):
        for name, value in _assigned(node):
            found.setdefault(name, []).append(value)
    return found


def _arguments(function: ast.FunctionDef) -> set[str]:
    return {a.arg for a in (*function.args.posonlyargs, *function.args.args,
                            *function.args.kwonlyargs)}  # fmt: skip


def _given(calls: Iterable[ast.Call], name: str, at: int) -> list[ast.expr]:
    """What calls hand over by a name or at a position."""
    found = []
    for call in calls:
        found += [k.value for k in call.keywords if k.arg == name] or call.args[at : at + 1]
    return [value for value in found if not isinstance(value, ast.Starred)]


def _last(call: ast.Call) -> str:
    return dotted(call.func).rpartition(".")[2]


def part(value: ast.expr) -> str:
    """What a part of an f-string is in a template: text, a gap, or forms by number."""
    if isinstance(value, ast.Constant):
        return _escaped(value.value)
    spec = value.format_spec if isinstance(value, ast.FormattedValue) else None
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    forms = "".join(str(one.value) for one in parts if isinstance(one, ast.Constant))
    return f"{{:{forms}}}" if "|" in forms else GAP


def _escaped(text: object) -> str:
    return str(text).replace("{", "{{").replace("}", "}}")


@cache
def code() -> Code:
    """The code, read once."""
    with garbage.nowhere():
        return Code()


@cache
def messages() -> tuple[dict[str, str], list[str]]:
    """Template → file of the catalogue; and where texts come from out of sight."""
    found, unseen, seen = {}, set(), set()
    for path, text in code().raised():
        for template in code().alternatives(text):
            if re.search("[a-zA-Z]", template.replace(GAP, "")):
                found.setdefault(template, file_of(path))
            elif not any(code().fillings(text, set())):
                unseen.add(f"{path.relative_to(SOURCE).as_posix()}: {ast.unparse(text)}")
        for template in code().fillings(text, seen):
            found.setdefault(template, file_of(path))
    return found, sorted(unseen)


def missing(known: Iterable[str], found: dict[str, str]) -> str:
    """What has no German yet, as TOML ready to fill, by file of the catalogue."""
    files: dict[str, list[str]] = {}
    for template in sorted(set(found) - set(known)):
        line = f'{json.dumps(template, ensure_ascii=False)} = ""'
        files.setdefault(found[template], []).append(line)
    return "\n".join(line for file in sorted(files) for line in (f"# {file}.toml", *files[file]))


if __name__ == "__main__":
    from diskret.texts.messages import catalogue

    print(missing(catalogue(), messages()[0]))  # noqa: T201
