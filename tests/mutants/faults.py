"""Which faults a module can have: places of its syntax tree, and what stands there instead."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

PACKAGE = Path(__file__).parents[2] / "src" / "diskret"

COMPARISONS: dict[type, tuple[type, ...]] = {
    # where the boundary lies, and on which side
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.MatMult: ast.Add,
}
#: Functions that are taken for one another.
_PAIRS = (
    ("min", "max"),
    ("minimum", "maximum"),
    ("any", "all"),
    ("floor", "ceil"),
    ("zeros", "ones"),
    ("union", "intersection"),
    ("issubset", "issuperset"),
    ("argmin", "argmax"),
    ("lower", "upper"),
    ("logical_and", "logical_or"),
)
TWINS = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}
#: Arguments that do not change what is computed.
SPARED = {"strict", "zero_copy_only", "copy", "encoding", "frozen", "repr", "compare", "init"}


@dataclass(frozen=True)
class Fault:
    """One fault: what stood in a function, and what stands there instead."""

    module: str
    function: str
    line: int
    kind: str
    change: str
    #: Which one, of those that read the same.
    number: int
    #: Whether it stands where the module is read, and not where a function is called.
    outside: bool
    _place: tuple[Any, str, int | None]
    _instead: Any

    @property
    def name(self) -> str:
        """What it is called wherever lines of the module have moved."""
        again = f" #{self.number}" if self.number else ""
        return f"{self.module}: {self.function}: {self.change}{again}"

    def put(self, tree: ast.Module, path: Path) -> CodeType:
        """The module with this fault, compiled. The tree keeps it."""
        holder, field, index = self._place
        if index is None:
            setattr(holder, field, self._instead)
        else:
            getattr(holder, field)[index] = self._instead
        return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)


def path_of(module: str) -> Path:
    """The file of a module that is called as in ``rules/p_percent``."""
    return PACKAGE / f"{module}.py"


def modules(named: str) -> list[str]:
    """Modules that a word means: one, or all of a folder."""
    path = PACKAGE / named
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path_of(named)]
    return [file.relative_to(PACKAGE).with_suffix("").as_posix() for file in files]


def faults(module: str) -> tuple[ast.Module, list[Fault]]:
    """All faults of a module, with the tree that they change."""
    tree = ast.parse(path_of(module).read_text("utf-8"))
    again: Counter[tuple[str, str]] = Counter()
    found: list[Fault] = []
    inside = _inside_functions(tree)
    for line, function, kind, change, place, instead in _places(tree):
        number = again[function, change]
        again[function, change] += 1
        outside = id(place[0]) not in inside
        found.append(Fault(module, function, line, kind, change, number, outside, place, instead))
    return tree, found


def sample(found: list[Fault], most: int | None, seed: int) -> list[Fault]:
    """At most so many of them, the same ones wherever the rest of the module changes."""

    def draw(fault: Fault) -> bytes:
        return hashlib.sha256(f"{seed} {fault.name}".encode()).digest()

    chosen = {f.name for f in sorted(found, key=draw)[:most]}
    return [fault for fault in found if fault.name in chosen]


def _inside_functions(tree: ast.Module) -> set[int]:
    """Nodes whose parts are computed when a function is called."""
    found: set[int] = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found.add(id(function))
            found.update(id(node) for statement in function.body for node in ast.walk(statement))
    return found


_Found = tuple[int, str, str, str, tuple[Any, str, int | None], Any]


def _places(tree: ast.Module) -> Iterator[_Found]:
    for holder, field, index, node, function in _walk(tree, ""):
        for kind, instead in _instead(node, holder, field):
            place = holder, field, index
            for new in ast.walk(instead):
                if isinstance(new, ast.expr | ast.stmt) and not hasattr(new, "lineno"):
                    ast.copy_location(new, node)
            change = f"{_read(node)} → {_read(instead)}"
            yield node.lineno, function or "module", kind, change, place, instead


def _walk(node: ast.AST, function: str) -> Iterator[tuple[Any, str, int | None, Any, str]]:
    """Every statement and expression that is computed, with where it stands."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        many = isinstance(value, list)
        for index, child in enumerate(value if many else [value]):
            if not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield node, field, index if many else None, child, function
            if _spared(child):
                continue
            inside = function
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{function}.{child.name}" if function else child.name
            yield from _walk(child, inside)


def _spared(node: ast.AST) -> bool:
    """What only speaks to people or type checkers."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.keyword(arg=name) if name in SPARED:
            return True
        case ast.FunctionDef(name="__repr__" | "__str__"):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar" | "some" | "describe_some")):
            return True
        case _:
            return False


def _instead(node: ast.AST, holder: ast.AST, field: str) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    changed = [*ops[:i], other(), *ops[i + 1 :]]
                    yield "comparison", ast.Compare(node.left, changed, node.comparators)
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not _words(node):
            yield "arithmetic", ast.BinOp(node.left, ARITHMETIC[type(op)](), node.right)
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC and not _words(node):
            other = ARITHMETIC[type(op)]()
            yield "arithmetic", ast.AugAssign(node.target, other, node.value)
            yield "dropped", _never(node)
        case ast.BoolOp(op=op, values=values):
            yield "boolean", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            pass
        case ast.UnaryOp(operand=operand):
            yield "boolean" if isinstance(node.op, ast.Not) else "arithmetic", operand
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.Constant(value="left" | "right" as side) if isinstance(holder, ast.keyword):
            yield "constant", ast.Constant("left" if side == "right" else "right")
        case ast.Call(func=ast.Name(id=name)) if name in TWINS:
            twin = ast.Name(TWINS[name], ast.Load())
            yield "twin", ast.Call(twin, node.args, node.keywords)
        case ast.Call(func=ast.Attribute(value=of, attr=name)) if name in TWINS:
            twin = ast.Attribute(of, TWINS[name], ast.Load())
            yield "twin", ast.Call(twin, node.args, node.keywords)
        case ast.Return(value=ast.expr() as value) if not (
            _says_nothing(value) or _has_other(value)
        ):
            yield "return", ast.If(ast.Constant(True), [ast.Return(ast.Constant(None))], [node])
        case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Continue() | ast.Break():
            yield "dropped", _never(node)
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "dropped", _never(node)
        case _:
            pass
    if (
        field in ("test", "ifs")
        and isinstance(node, ast.expr)
        and not isinstance(holder, ast.While)
    ):
        if not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield "condition", ast.UnaryOp(ast.Not(), node)
        elif field == "ifs":
            yield "condition", ast.BoolOp(ast.Or(), [ast.Constant(True), node])


def _never(statement: Any) -> ast.If:
    """A statement that is not done; names in it stay what they are in their function."""
    return ast.If(ast.Constant(False), [statement], [])


def _words(node: Any) -> bool:
    """Whether sides of a sum are text."""
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def _says_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _has_other(value: ast.expr) -> bool:
    """Whether there are faults inside a returned value, so that None would say little more."""
    inside = _walk(ast.Expr(value), "")
    return any(True for holder, field, _, n, _ in inside for _ in _instead(n, holder, field))


def _read(node: ast.AST) -> str:
    match node:
        case ast.If(test=ast.Constant(value=False)):
            return "nothing"
        case ast.If(test=ast.Constant(value=True), body=[ast.Return() as first]):
            return ast.unparse(first)
        case _:
            return " ".join(ast.unparse(node).split())
