"""What the package says when something is wrong, found in its code without running it.

`messages` walks the code and gives every text that is handed to an error, a warning or a section
of a job, with gaps as ``{}``: alternatives, local names, constants and functions of the package
are followed. Texts that only fill a gap of a message are given too, if they hold a word.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import product
from pathlib import Path

import diskret as dk

SOURCE = Path(dk.__file__).parent
GAP = "{}"
_ENOUGH = 40  # alternatives of one text
_RAISED = ("warnings.warn", "type(error)", "wrong", "typer.BadParameter")
_WORD = re.compile(r"[a-zA-Z]{2,} |[ ][a-zA-Z]{2,}")


def folder(path: Path) -> str:
    """The file of the catalogue for messages of a module."""
    parts = path.relative_to(SOURCE).parts
    named = {
        "workflow", "tables", "attack", "cellkey", "io", "hierarchy", "rules", "engines",
        "release", "risk", "formats", "utility", "safe", "keys", "microdata",
    }  # fmt: skip
    if "microdata" in parts[:2]:
        return "microdata"
    return parts[0] if parts[0] in named else "other"


class Code:
    """The code of the package: its modules, functions and constants by name."""

    def __init__(self):
        self.modules = {
            path: ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted(SOURCE.rglob("*.py"))
            if path.name != "texts.py"
        }
        self.functions: dict[str, list[ast.FunctionDef]] = {}
        self.constants: dict[str, list[ast.expr]] = {}
        self.inside: dict[ast.AST, ast.FunctionDef | None] = {}
        self.calls: dict[str, list[ast.Call]] = {}
        self.fields: dict[str, list[tuple[str, int]]] = {}
        for tree in self.modules.values():
            self._place(tree, None)
            for node in tree.body:
                for name, value in _assigned(node):
                    self.constants.setdefault(name, []).append(value)

    def _place(self, node, function):
        for child in ast.iter_child_nodes(node):
            self.inside[child] = function
            if isinstance(child, ast.FunctionDef):
                self.functions.setdefault(child.name, []).append(child)
                self._place(child, child)
            else:
                self._place(child, function)
            if isinstance(child, ast.Call):
                self.calls.setdefault(ast.unparse(child.func).rpartition(".")[2], []).append(child)
            elif isinstance(child, ast.ClassDef):
                own = [n for n in child.body if isinstance(n, ast.AnnAssign)]
                for at, one in enumerate(own):
                    if ast.unparse(one.annotation) == "str":
                        place = self.fields.setdefault(ast.unparse(one.target), [])
                        place.append((child.name, at))

    @cached_property
    def errors(self) -> set[str]:
        """Names of the classes of errors that are raised on purpose."""
        known, before = {"DiskretError"}, 0
        classes = [n for t in self.modules.values() for n in ast.walk(t)
                   if isinstance(n, ast.ClassDef)]  # fmt: skip
        while len(known) > before:
            before = len(known)
            known |= {c.name for c in classes if {ast.unparse(b) for b in c.bases} & known}
        return known

    def raised(self) -> Iterator[tuple[Path, ast.Call, ast.expr]]:
        """Every text handed to an error, a warning or a section of a job."""
        for path, tree in self.modules.items():
            for node in ast.walk(tree):
                if not isinstance(node, ast.Call) or not node.args:
                    continue
                name = ast.unparse(node.func)
                last = name.rpartition(".")[2]
                if name in self.errors or name in _RAISED:
                    yield path, node, node.args[0]
                elif last in ("error", "unknown", "unfit") and path.parent.name == "workflow":
                    for text in node.args[1:2] if last == "unfit" else node.args[:1]:
                        yield path, node, text

    def alternatives(self, node: ast.expr, depth: int = 0) -> set[str]:
        """What a text may be; what is not text, or not known, is a gap."""
        found = {GAP}
        if depth > 8:
            return found
        if isinstance(node, ast.Constant):
            return (
                {node.value.replace("{", "{{").replace("}", "}}")}
                if isinstance(node.value, str)
                else found
            )
        if isinstance(node, ast.JoinedStr):
            return {
                "".join(
                    GAP if isinstance(v, ast.FormattedValue)
                    else v.value.replace("{", "{{").replace("}", "}}")
                    for v in node.values
                )
            }  # fmt: skip
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            both = [self.alternatives(side, depth + 1) for side in (node.left, node.right)]
            return {a + b for a, b in product(*both)} if len(both[0]) * len(both[1]) < _ENOUGH \
                else found  # fmt: skip
        if isinstance(node, ast.IfExp):
            return self.alternatives(node.body, depth) | self.alternatives(node.orelse, depth)
        if isinstance(node, ast.BoolOp):
            return set().union(*(self.alternatives(v, depth) for v in node.values))
        if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            values = self._meant(node)
            if values:
                return set().union(*(self.alternatives(v, depth + 1) for v in values))
        return found

    def _meant(self, node: ast.expr) -> list[ast.expr]:
        """What a name was assigned, or what a function of the package returns."""
        if isinstance(node, ast.Name):
            function = self.inside.get(node)
            if function is not None:
                here = [
                    value
                    for one in ast.walk(function)
                    for name, value in _assigned(one)
                    if name == node.id
                ]
                arguments = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
                if here:
                    return here
                if node.id in arguments:
                    return self._handed(function, node.id)
            named = self.constants.get(node.id, [])
            return named if len(named) == 1 else []
        if isinstance(node, ast.Attribute) and len(self.fields.get(node.attr, [])) == 1:
            ((name, at),) = self.fields[node.attr]
            return _arguments(self.calls.get(name, []), node.attr, at)
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
                return []
            named = self.functions.get(name.rpartition(".")[2], [])
            if len(named) == 1 and (name.isidentifier() or name.startswith("self.")):
                return [
                    r.value for r in ast.walk(named[0]) if isinstance(r, ast.Return) and r.value
                ]
        return []

    def _handed(self, function: ast.FunctionDef, name: str) -> list[ast.expr]:
        """What callers hand to an argument of a function, if its name is its own."""
        if len(self.functions[function.name]) > 1:
            return []
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        at = names.index(name) if name in names else len(names)
        return _arguments(self.calls.get(function.name, []), name, at)

    def gaps(self, node: ast.expr, depth: int = 0) -> Iterator[ast.expr]:
        """Expressions that fill gaps of a text, wherever its parts come from."""
        if depth > 8:
            return
        if isinstance(node, ast.JoinedStr):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    yield value.value
        elif isinstance(node, ast.BinOp):
            yield from self.gaps(node.left, depth + 1)
            yield from self.gaps(node.right, depth + 1)
        elif isinstance(node, ast.IfExp):
            yield from self.gaps(node.body, depth)
            yield from self.gaps(node.orelse, depth)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self.gaps(value, depth)
        else:
            for value in self._meant(node):
                yield from self.gaps(value, depth + 1)

    def fragments(self, node: ast.expr, depth: int = 0) -> Iterator[str]:
        """Texts that fill a gap of a message, and a gap of them, if they hold a word."""
        if depth > 4:
            return
        for gap in self.gaps(node):
            for text in self.alternatives(gap):
                if _WORD.search(text.replace(GAP, "")):
                    yield text
            yield from self.fragments(gap, depth + 1)
            if isinstance(gap, ast.Call):
                for item in (item for argument in gap.args for item in self._items(argument)):
                    for text in self.alternatives(item):
                        if _WORD.search(text.replace(GAP, "")):
                            yield text
                    yield from self.fragments(item, depth + 1)

    def _items(self, node: ast.expr, depth: int = 0) -> Iterator[ast.expr]:
        """What a list of texts holds."""
        if depth > 6:
            return
        if isinstance(node, (ast.List, ast.Tuple)):
            yield from node.elts
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            yield node.elt
        elif isinstance(node, (ast.Subscript, ast.Starred)):
            yield from self._items(node.value, depth + 1)
        elif isinstance(node, ast.BinOp):
            yield from self._items(node.left, depth + 1)
            yield from self._items(node.right, depth + 1)
        elif isinstance(node, ast.Name):
            for value in self._meant(node):
                yield from self._items(value, depth + 1)
            for call in ast.walk(self.inside.get(node) or ast.Module([], [])):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{node.id}.append":
                    yield from call.args
        elif isinstance(node, ast.Call):
            for value in self._meant(node):
                yield from self._items(value, depth + 1)
            for one in self.functions.get(ast.unparse(node.func), [])[:1]:
                yield from (y.value for y in ast.walk(one) if isinstance(y, ast.Yield) and y.value)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id, node.value


def _arguments(calls: list[ast.Call], name: str, at: int) -> list[ast.expr]:
    """What calls hand over by a name or at a position."""
    found = []
    for call in calls:
        found += [k.value for k in call.keywords if k.arg == name] or call.args[at : at + 1]
    return [value for value in found if not isinstance(value, ast.Starred)]


def messages() -> tuple[dict[str, str], list[str]]:
    """Template → file of the catalogue; and where a message is put together out of sight."""
    code, found, together = Code(), {}, []
    for path, call, text in code.raised():
        where = folder(path)
        for template in code.alternatives(text):
            if template.replace(GAP, "").strip(" :;,.()'") == "":
                together.append(f"{path.relative_to(SOURCE)}: {ast.unparse(text)}")
            else:
                found.setdefault(template, where)
        for template in code.fragments(text):
            found.setdefault(template, where)
    return found, sorted(set(together))


def missing(known: dict[str, str]) -> str:
    """What has no German yet, as TOML ready to fill, by file of the catalogue."""
    files: dict[str, list[str]] = {}
    for template, file in messages()[0].items():
        if template not in known:
            files.setdefault(file, []).append(f'{json.dumps(template, ensure_ascii=False)} = ""')
    return "\n".join(
        line for file in sorted(files) for line in (f"# {file}.toml", *sorted(files[file]))
    )


if __name__ == "__main__":  # python tests/cli/said.py prints what is still to be translated
    from diskret.cli.messages import catalogue

    print(missing(catalogue()))
