"""How large the house is: files, lines, code and docstrings of each folder of the package.

Lines are all lines of `src/diskret/**/*.py`. Code is what is left without blank lines, comments,
docstrings and imports (blocks under ``TYPE_CHECKING`` included); a line that holds code and a
comment is code. A circle is a set of modules that import each other, directly or through others,
inside functions too, but not under ``TYPE_CHECKING``.
"""

import ast
import io
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src" / "diskret"
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def main() -> None:
    """Print the figures, a line for each folder."""
    counted = {path: count(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    folders: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path, figures in counted.items():
        inside = path.relative_to(ROOT).parts
        for folder in (inside[0] if len(inside) > 1 else ".", "all"):
            folders[folder] += figures
    print(f"{'folder':<14}{'files':>7}{'lines':>9}{'code':>9}{'docstrings':>12}")
    for folder in sorted(folders, key=lambda name: (name == "all", name)):
        f = folders[folder]
        print(f"{folder:<14}{f['files']:>7}{f['lines']:>9,}{f['code']:>9,}{f['docstrings']:>12,}")
    graph = {module_of(path): imports(path) for path in counted}
    found = circles(graph)
    importers = Counter(target for targets in graph.values() for target in targets)
    print(f"modules with one importer: {sum(n == 1 for n in importers.values())}")
    print(f"circles: {len(found)}")
    for circle in found:
        print("  " + ", ".join(sorted(circle)))


def count(source: str) -> Counter[str]:
    """Files, lines, code and docstrings of one module."""
    tree = ast.parse(source)
    docstrings = {line for span in docstring_spans(tree) for line in span}
    aside = docstrings | {line for span in import_spans(tree) for line in span}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return Counter(
        files=1, lines=len(source.splitlines()), code=len(code - aside), docstrings=len(docstrings)
    )


def docstring_spans(tree: ast.Module) -> Iterator[range]:
    """The lines of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                yield span(node.body[0])


def import_spans(tree: ast.Module) -> Iterator[range]:
    """The lines of each import, and of each block for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) or for_types(node):
            yield span(node)


def for_types(node: ast.AST) -> bool:
    """Whether this is a block under ``TYPE_CHECKING``."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Name | ast.Attribute):
        return False
    return ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING"


def span(node: ast.AST) -> range:
    """The lines of a statement."""
    return range(node.lineno, node.end_lineno + 1)  # pyright: ignore


def module_of(path: Path) -> str:
    """The full name of a module."""
    parts = ("diskret", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, tree: ast.Module | None = None) -> set[str]:
    """The modules of the package that this one imports, but for types only; `tree`: its code."""
    own = module_of(path)
    # relative imports of a package's __init__ start one level lower
    start = f"{own}.__init__" if path.stem == "__init__" else own
    found = {name for _, name in imported(start, tree or ast.parse(path.read_text("utf-8")))}
    return {name for name in found if name.split(".")[0] == "diskret"} - {own}


def imported(module: str, node: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full name of every module that a module of ours imports when it runs.

    Functions are looked into, blocks for type checkers are not. Of ``from diskret.x import y``
    the name is that of the module ``diskret.x.y`` if there is one.
    """
    if for_types(node):
        for statement in node.orelse:  # pyright: ignore
            yield from imported(module, statement)
        return
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield node.lineno, alias.name
    elif isinstance(node, ast.ImportFrom):
        above = module.split(".")[: -node.level] if node.level else []
        source = ".".join([*above, *filter(None, [node.module])])
        for alias in node.names:
            inner = f"{source}.{alias.name}"
            yield node.lineno, inner if is_module(inner) else source
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):  # holds no statements
            yield from imported(module, child)


def is_module(name: str) -> bool:
    """Whether this is the full name of a module or folder of the package."""
    path = ROOT.joinpath(*name.split(".")[1:])
    return name.startswith("diskret.") and (path.with_suffix(".py").is_file() or path.is_dir())


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that import each other (Tarjan's strong components), largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph.get(node, ())):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append({*stack[at:]})
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda circle: (-len(circle), sorted(circle)))


if __name__ == "__main__":
    main()
