"""What the variables of a publication mean: the trees that they are levels of, and their codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diskret.hierarchy import Hierarchy
from diskret.io import DataFile, to_arrow
from diskret.io.columns import code_text, column
from diskret.jobs.toml_text import key, toml
from diskret.plan.places import few
from diskret.plan.records import recorded_codes
from diskret.plan.values import (
    Answers,
    Asked,
    Axis,
    Breakdown,
    Description,
    Note,
    Question,
    Variable,
    VariableAnswer,
)
from diskret.texts import Statement


@dataclass(eq=False)
class Axes:
    """The axes of a publication; what is asked and noted on the way is collected."""

    asked: Asked
    answers: Answers
    named: dict[str, Axis] = field(default_factory=dict[str, Axis])
    #: Variable → its axis: that of the first table that names it.
    of: dict[str, str] = field(default_factory=dict[str, str])
    questions: list[Question] = field(default_factory=list[Question])
    notes: list[Note] = field(default_factory=list[Note])
    levels: dict[str, frozenset[str] | None] = field(
        default_factory=dict[str, "frozenset[str] | None"]
    )

    def breakdowns(self, table: Description) -> list[list[Breakdown]]:
        """For each variable of a table the trees that its codes are in, with these codes."""
        return [self._breakdowns(variable) for variable in table.by]

    def _breakdowns(self, variable: Variable) -> list[Breakdown]:
        axis = self.named[self.of[variable.name]]
        codes = variable.codes if self.asked.listed else self.levels[variable.name]
        if codes is None or (not axis.trees and not axis.flat):
            whole = variable.codes or frozenset({variable.name})
            return [Breakdown(axis.name, "", whole)]
        if not axis.trees:
            return [Breakdown(axis.name, "", codes)]
        found: list[Breakdown] = []
        left = set(codes)
        for name, tree in axis.trees.items():
            own = frozenset(code for code in left if code in tree.position and code != tree.total)
            left -= own
            if own:
                found.append(Breakdown(axis.name, name, own))
        return found


def axes_of(asked: Asked, answers: Answers, trees: Mapping[str, Hierarchy]) -> Axes:
    """Find the axes of all variables, and what is open about them."""
    found = Axes(asked, answers)
    variables = _variables(asked)
    for name, own in _grouped(asked, answers, variables).items():
        found.named[name] = _axis(found, name, own, trees)
        found.of |= dict.fromkeys(own, name)
    for name, group in variables.items():
        axis = found.named[found.of[name]]
        found.levels[name] = _codes_of(found, axis, name, group)
    for axis in list(found.named.values()):
        found.named[axis.name] = _with_column(found, axis)
        _look_at_codes(found, found.named[axis.name])
    return found


def axis_name(asked: Asked, answers: Answers, variable: Variable) -> str:
    """The axis that a variable belongs to: its tree, or itself."""
    if variable.hierarchy is not None:
        return variable.hierarchy
    said = answers.variables.get(variable.name, VariableAnswer())
    return said.hierarchies[0] if said.hierarchies and not asked.listed else variable.name


_Named = list[tuple[Variable, Description]]


def _variables(asked: Asked) -> dict[str, _Named]:
    """Variable → how tables name it, in the order of the file."""
    found: dict[str, _Named] = {}
    for table in asked.tables:
        for variable in table.by:
            found.setdefault(variable.name, []).append((variable, table))
    return found


def _grouped(
    asked: Asked, answers: Answers, variables: Mapping[str, _Named]
) -> dict[str, dict[str, _Named]]:
    """Axis → its variables."""
    found: dict[str, dict[str, _Named]] = {}
    for name, group in variables.items():
        found.setdefault(axis_name(asked, answers, group[0][0]), {})[name] = group
    return found


def lines_of(group: _Named) -> tuple[int, ...]:
    """The lines in which a variable stands."""
    return tuple(line for _, table in group for line in table.lines)


def _axis(
    found: Axes, name: str, own: Mapping[str, _Named], trees: Mapping[str, Hierarchy]
) -> Axis:
    asked, answers = found.asked, found.answers
    lines = tuple(line for group in own.values() for line in lines_of(group))
    _check_one_tree(found, own)
    said = [answers.variables.get(variable, VariableAnswer()) for variable in own]
    names = list(dict.fromkeys(tree for one in said for tree in one.hierarchies))
    in_template = next(
        (v.hierarchy for group in own.values() for v, _ in group if v.hierarchy), None
    )
    if in_template is not None and in_template in trees and in_template not in names:
        names.insert(0, in_template)
    total = next((one.total for one in said if one.total), None)
    total = total or next((asked.totals[v] for v in own if v in asked.totals), None)
    flat = not names and (any(one.flat for one in said) or (asked.says_flat and not in_template))
    if not names and not flat:
        if in_template is not None:
            what = Statement.said("plan", "which tree", name=in_template, variables=", ".join(own))
            answer = (
                f'[hierarchies]\n{key(in_template)} = {{ file = "...", levels = ["...", "..."] }}'
            )
        else:
            (variable,) = list(own)[:1]
            what = Statement.said("plan", "flat or tree", variable=variable)
            answer = f'[variables.{key(variable)}]\nflat = true   # or: hierarchy = "..."'
        found.questions.append(Question(what, answer, lines))
    roots = {trees[one].total for one in names}
    if total is not None and roots and roots != {total}:
        other = next(iter(roots - {total}))
        said_so = Statement.said("plan", "other total", axis=name, total=total, root=other)
        answer = f"[variables.{key(next(iter(own)))}]\ntotal = {toml(other)}"
        found.questions.append(Question(said_so, answer, lines))
    elif asked.listed and total is None and not roots and flat:
        said_so = Statement.said("plan", "which total", variable=name)
        answer = f'[variables.{key(name)}]\ntotal = "..."'
        found.questions.append(Question(said_so, answer, lines))
    return Axis(
        name,
        tuple(own),
        {one: trees[one] for one in names},
        flat=flat,
        total=next(iter(roots), total),
    )


def _check_one_tree(found: Axes, own: Mapping[str, _Named]) -> None:
    """A variable that is a level of one tree here and of another one there is two variables."""
    for name, group in own.items():
        hierarchies = list(dict.fromkeys(variable.hierarchy or "" for variable, _ in group))
        if len(hierarchies) > 1:
            said = Statement.said(
                "plan", "two trees", variable=name, first=hierarchies[0], other=hierarchies[1]
            )
            found.questions.append(Question(said, "", lines_of(group)))


# ── the codes of a variable ─────────────────────────────────────────────────────────────


def _codes_of(found: Axes, axis: Axis, name: str, group: _Named) -> frozenset[str] | None:
    """The codes that a variable shows, or None if that is not known."""
    if found.asked.listed:
        return None
    if not axis.trees:
        return frozenset({name}) if axis.flat else None
    said = found.answers.variables.get(name, VariableAnswer())
    tree_name, tree = next(iter(axis.trees.items()))
    codes = _at_level(found, tree_name, tree, name, said)
    if codes is not None:
        return codes
    if len(axis.variables) == 1:  # a variable with a tree of its own shows all of it
        return frozenset(tree.codes) - {tree.total}
    recorded = recorded_codes(found.answers, said.column or name)
    if recorded and recorded <= {*tree.codes}:
        note = Statement.said("plan", "level of records", variable=name, tree=tree_name)
        found.notes.append(Note(note, lines_of(group)))
        return recorded - {tree.total}
    what = Statement.said("plan", "which level", variable=name, tree=tree_name)
    answer = f"[variables.{key(name)}]\nlevel = 1   # steps below the total, or the name of a level"
    found.questions.append(Question(what, answer, lines_of(group)))
    return None


def _at_level(
    found: Axes, tree_name: str, tree: Hierarchy, name: str, said: VariableAnswer
) -> frozenset[str] | None:
    file = found.answers.hierarchies[tree_name]
    if isinstance(said.level, int):
        deepest = int(tree.level.max())
        level = min(said.level, deepest)
        return frozenset(
            code
            for code, depth, leaf in zip(tree.codes, tree.level, tree.is_leaf, strict=True)
            if depth == level or (leaf and 0 < depth < level)
        )
    wanted = said.level or name
    level = next((one for one in file.levels if one.casefold() == wanted.casefold()), None)
    if level is None:
        return None
    records, _ = to_arrow(DataFile(file.path))
    codes = code_text(column(records, level), level).unique().to_pylist()
    return frozenset(code for code in codes if code in tree.position and code != tree.total)


def _with_column(found: Axes, axis: Axis) -> Axis:
    """The axis with the column of the records that is broken down by, and its codes."""
    finest = max(
        axis.variables,
        key=lambda name: (_depth(axis, found.levels[name]), -axis.variables.index(name)),
    )
    said = found.answers.variables.get(finest, VariableAnswer())
    name = said.column or finest
    records = found.answers.records
    if records is not None and name not in records.columns:
        what = Statement.said(
            "plan", "which column", name=finest, columns=", ".join(records.columns)
        )
        answer = f'[variables.{key(finest)}]\ncolumn = "..."'
        found.questions.append(Question(what, answer))
    return Axis(
        axis.name,
        axis.variables,
        axis.trees,
        axis.flat,
        name,
        recorded_codes(found.answers, name),
        axis.total,
    )


def _depth(axis: Axis, codes: frozenset[str] | None) -> float:
    """How far down codes lie, on average."""
    if codes is None or not axis.trees:
        return 0.0
    tree = next(iter(axis.trees.values()))
    depths = [int(tree.level[tree.position[code]]) for code in codes]
    return sum(depths) / max(len(depths), 1)


# ── codes that mean the same, or that nobody knows ──────────────────────────────────────


def _look_at_codes(found: Axes, axis: Axis) -> None:
    for variable in axis.variables:
        at = found.asked.codes_at.get(variable, {})
        _spelled_alike(found, variable, at)
        if axis.trees:
            _not_in_tree(found, axis, variable, at)
        elif axis.flat and axis.recorded is not None:
            _not_recorded(found, axis, variable, at)
    shown = {code for name in axis.variables for code in found.levels[name] or ()}
    shown |= {code for name in axis.variables for code in found.asked.codes_at.get(name, {})}
    for name, masks in axis.masks.items():
        same: dict[int, list[str]] = {}
        for code in axis.trees[name].codes:
            if code in shown:
                same.setdefault(masks[code], []).append(code)
        alike = [" = ".join(codes) for codes in same.values() if len(codes) > 1]
        if alike:
            said = Statement.said("plan", "same", axis=axis.name, codes=few(alike, _SHOWN))
            found.notes.append(Note(said))
    _ambiguous(found, axis)


def _spelled_alike(found: Axes, variable: str, at: Mapping[str, int]) -> None:
    """Codes that differ in case, signs or leading zeros only."""
    alike: dict[str, list[str]] = {}
    for code in at:
        plain = "".join(c for c in code.casefold() if c.isalnum())
        alike.setdefault(plain.lstrip("0") or plain, []).append(code)
    for codes in alike.values():
        if len(codes) > 1 and not any({*codes} <= said for said in found.answers.different):
            said = Statement.said("plan", "alike", variable=variable, codes=", ".join(codes))
            answer = f"different = {toml([codes])}"
            found.questions.append(Question(said, answer, tuple(at[code] for code in codes)))


_SHOWN = 6


def _not_in_tree(found: Axes, axis: Axis, variable: str, at: Mapping[str, int]) -> None:
    known = {code for tree in axis.trees.values() for code in tree.codes}
    missing = [code for code in at if code not in known and code != axis.total]
    if missing:
        said = Statement.said(
            "plan",
            "not in tree",
            variable=variable,
            count=len(missing),
            codes=few(missing, _SHOWN),
            trees=", ".join(axis.trees),
        )
        lines = tuple(at[code] for code in missing[:_SHOWN])
        answer = f"[variables.{key(variable)}]\nhierarchy = {toml([*axis.trees, '...'])}"
        found.questions.append(Question(said, answer, lines))


def _not_recorded(found: Axes, axis: Axis, variable: str, at: Mapping[str, int]) -> None:
    """Codes that only the template has, or only the records, which may be the same ones."""
    recorded = axis.recorded or frozenset()
    missing = [code for code in at if code not in recorded and code != axis.total]
    unasked = sorted(recorded - {*at, axis.total}) if at else []
    lines = tuple(at[code] for code in missing[:_SHOWN])
    if missing and unasked:
        said = Statement.said(
            "plan",
            "other codes",
            variable=variable,
            asked=few(missing, _SHOWN),
            recorded=few(unasked, _SHOWN),
        )
        answer = f'[variables.{key(variable)}]\nhierarchy = "..."   # or: column = "..."'
        found.questions.append(Question(said, answer, lines))
    elif missing:
        said = Statement.said("plan", "no record", variable=variable, codes=few(missing, _SHOWN))
        found.notes.append(Note(said, lines))
    elif unasked:
        said = Statement.said("plan", "unasked", variable=variable, codes=few(unasked, _SHOWN))
        found.notes.append(Note(said))


def _ambiguous(found: Axes, axis: Axis) -> None:
    """A code that stands for different leaves in two trees of one axis."""
    leaves: dict[str, tuple[str, frozenset[str]]] = {}
    for name, tree in axis.trees.items():
        for place, code in enumerate(tree.codes):
            own = frozenset(tree.leaves_below(place))
            first, other = leaves.setdefault(code, (name, own))
            coarse = frozenset({code}) in (
                own,
                other,
            )  # one of the trees ends there, so it says no more
            if other != own and code != tree.total and not coarse:
                said = Statement.said(
                    "plan", "two meanings", code=code, axis=axis.name, first=first, other=name
                )
                found.questions.append(Question(said, ""))
