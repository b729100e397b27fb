"""Files of protected tables that hold cells, as lines: CSV, pivot, code and value, SBS."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from diskret.argus.cell_files import decimal_text, quoted
from diskret.argus.commands import Write
from diskret.argus.done import SECONDARY, Done
from diskret.protect.perturbed_result import PerturbedResult
from diskret.publish.formats.flags import SAFE_SBS, SECONDARY_SBS, sbs_letter
from diskret.tables import Measure

_PIVOT = 2


def cells_of(done: Done, own: bool = False) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The codes and the place of every cell; `own`: codes as in the tree, so that none is twice."""
    trees = [axis.tree for axis in done.made.axes]
    shown = [
        [code if own else axis.shown(code) for code in axis.tree.codes] for axis in done.made.axes
    ]
    for at in np.ndindex(*(len(tree) for tree in trees)):
        yield tuple(codes[i] for codes, i in zip(shown, at, strict=True)), at


def true_text(done: Done, at: tuple[int, ...]) -> str:
    """What the table holds in a cell."""
    values, decimals = done.original
    return decimal_text(int(values[at]), decimals)


def _public(done: Done, at: tuple[int, ...]) -> str:
    """What anybody may see of a cell."""
    if done.empty[at]:
        return "-"
    values, decimals = done.published
    return "x" if done.hidden[at] else decimal_text(int(values[at]), decimals)


def lines_of_values(write: Write, done: Done) -> Iterator[str]:
    """One cell a line: codes, value, and the status if it is asked for.

    Of changed values the true one stands before the changed one instead of a status.
    """
    options = write.options
    quotes, more = options.get("QU", True), options.get("AS", False)
    only = options.get("SO", False) and not done.changed
    status = (more or only) and not done.changed
    if options.get("FL", write.kind == _PIVOT):
        names = [axis.variable.name for axis in done.made.axes]
        names += ["Original"] if more and done.changed else []
        names += [] if only else [done.made.text.response]
        names += ["Status"] if status else []
        yield ",".join(quoted(names, quotes))
    found = done.status
    for codes, at in cells_of(done):
        if done.empty[at] and options.get("SE", False):
            continue
        line = quoted(codes, quotes)
        if more and done.changed:
            line.append(true_text(done, at))
        if not only:
            true = status and not done.empty[at]
            line.append(true_text(done, at) if true else _public(done, at))
        if status:
            line.append(str(found[at]))
        yield ",".join(line)


def lines_of_pages(write: Write, done: Done) -> Iterator[str]:
    """A page of rows and columns for every code of the further variables."""
    first, *further = done.made.axes
    second = further[0] if further else None
    quotes = write.options.get("QU", True)
    more, found = write.options.get("AS", False), done.status

    def cell(at: tuple[int, ...]) -> str:
        if not more:
            return _public(done, at)
        beside = _public(done, at) if done.changed else found[at]
        return f"{true_text(done, at)},{beside}"

    for layer in np.ndindex(*(len(axis.tree) for axis in further[1:])):
        for number, (axis, i) in enumerate(zip(further[1:], layer, strict=True), start=3):
            yield f"Var {number},{quoted([axis.shown(axis.tree.codes[i])], quotes)[0]}"
        if second is None:
            names = [done.made.text.response]
        else:
            names = [second.shown(code) for code in second.tree.codes]
        heads = quoted(names, quotes)
        if more:
            beside = quoted(["Changed" if done.changed else "Status"], quotes)[0]
            heads = [text for head in heads for text in (head, beside)]
        yield ",".join([*quoted([first.variable.name], quotes), *heads])
        for row, code in enumerate(first.tree.codes):
            places = [(row,)] if second is None else [(row, i) for i in range(len(second.tree))]
            line = [cell((*at, *layer)) for at in places]
            yield ",".join([*quoted([first.shown(code)], quotes), *line])


def lines_of_sbs(write: Write, done: Done) -> Iterator[str]:
    """Codes, levels if asked for, value, frequency, flag; with p% two shares. Values are true."""
    table, found = done.made.table, done.status
    names = (*done.sensitivity.reasons, "")
    rules = done.made.text.rules.rules
    alone = all(one.numbers[0] == 1 for one in rules if one.kind == "NK")
    measure = judged_measure(done)
    for codes, at in cells_of(done):
        if table.empty[at]:
            continue
        reason = names[done.sensitivity.reason[at]] if done.sensitivity.unsafe[at] else ""
        flag = sbs_letter(reason, alone) if reason else SAFE_SBS
        if found[at] == SECONDARY:
            flag = SECONDARY_SBS
        line = quoted(codes, True)
        if write.options.get("HL"):
            axes = done.made.axes
            line += [str(axis.tree.level[i]) for axis, i in zip(axes, at, strict=True)]
        count = 0 if table.count is None else int(table.count[at])
        line += [true_text(done, at), str(count), flag]
        if flag == "F":
            whole = max(int(measure.magnitude[at]), 1)
            line += [f"{100 * int(x) / whole:.4f}" for x in measure.largest[at][:2]]
        yield ",".join(line)


def judged_measure(done: Done) -> Measure:
    """The measure that the rules look at: the shadow, or the response."""
    table = done.made.table
    return table[done.made.shadow].measure if done.made.shadow else table.measure


def lines_of_noise(write: Write, done: Done) -> Iterator[str]:
    """What the cell key method made of each cell, and if it is asked for of what and by which key.

    The original value, the difference and the cell key are for the office only.
    """
    options, quotes = write.options, write.options.get("QU", True)
    asked = [name for name in ("AO", "AD", "AC") if options.get(name, False)]
    if options.get("FL", False):
        names = [axis.variable.name for axis in done.made.axes] + [done.made.text.response]
        heads = {"AO": "Original", "AD": "Difference", "AC": "CellKey"}
        yield ",".join(quoted([*names, *(heads[name] for name in asked)], quotes))
    if not isinstance(done.result, PerturbedResult):
        return
    keyed, noise = done.result.table, done.result.noise
    digits = len(str(keyed.key_modulus)) - 1
    decimals = done.published[1]
    for codes, at in cells_of(done):
        if done.empty[at] and options.get("SE", False):
            continue
        key = 0 if keyed.key_sum is None else int(keyed.key_sum[at])
        of = {
            "AO": true_text(done, at),
            "AD": decimal_text(int(noise[at]), decimals),
            "AC": decimal_text(key, digits),
        }
        line = [*quoted(codes, quotes), _public(done, at), *(of[name] for name in asked)]
        yield ",".join(line)
