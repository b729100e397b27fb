"""Files of cells as τ-ARGUS reads them: metadata, trees, and numbers as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diskret.hierarchy import Hierarchy

#: What stands between fields.
SEPARATOR = ";"


@dataclass(frozen=True)
class CodeColumn:
    """A column of codes; `tree`: the file of its tree, "" for a flat one."""

    name: str
    total: str
    tree: str = ""
    lead: str = "@"


def metadata_text(codes: Sequence[CodeColumn], others: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The ``.rda`` file: columns of codes, and others with their options, in their order.

    A column whose name is taken gets another one.

    >>> print(metadata_text([CodeColumn("R", "T")], [("Freq", ["FREQUENCY"])]), end="")
       <SEPARATOR> ";"
    <SAFE> S
    <UNSAFE> U
    <PROTECT> P
    "R"
      <RECODEABLE>
      <TOTCODE> "T"
    "Freq"
      <FREQUENCY>
    """
    lines = [f'   <SEPARATOR> "{SEPARATOR}"', "<SAFE> S", "<UNSAFE> U", "<PROTECT> P"]
    for one in codes:
        lines += [f'"{one.name}"', "  <RECODEABLE>", f'  <TOTCODE> "{one.total}"']
        if one.tree:
            lines += ["  <HIERARCHICAL>", f'  <HIERCODELIST> "{one.tree}"']
            lines.append(f'  <HIERLEADSTRING> "{one.lead}"')
    taken = {one.name.casefold() for one in codes}
    for name, options in others:
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        lines += [f'"{name}"', *(f"  <{option}>" for option in options if " " not in option)]
        lines += [f"  {option}" for option in options if " " in option]
    return "\n".join(lines) + "\n"


def tree_text(tree: Hierarchy, lead: str = "@") -> str:
    r"""The ``.hrc`` file of a tree; the total is not in it.

    >>> tree_text(Hierarchy.from_parents({"code": ["T", "A", "a"], "parent": [None, "T", "A"]}))
    'A\n@a\n'
    """
    rows = zip(tree.codes[1:], tree.level.tolist()[1:], strict=True)
    return "".join(f"{lead * (depth - 1)}{code}\n" for code, depth in rows)


def decimal_text(value: int, decimals: int) -> str:
    """A scaled integer as text, exactly.

    >>> decimal_text(-1205, 2), decimal_text(7, 0)
    ('-12.05', '7')
    """
    if decimals == 0:
        return str(value)
    digits = str(abs(value)).rjust(decimals + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-decimals]}.{digits[-decimals:]}"


def quoted(texts: Sequence[str], quotes: bool = True) -> list[str]:
    """Texts in quotes, or as they are."""
    return ['"' + text.replace('"', '""') + '"' for text in texts] if quotes else [*texts]
