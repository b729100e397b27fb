"""What is told of the original: charged first, then voted by its blocks, then drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diskret.keys import SecretKeys
from diskret.remote.allowance import Allowance, question_mark
from diskret.remote.compare import Compared, answers, described, questions
from diskret.remote.figures import Figures
from diskret.remote.query import Query
from diskret.remote.records import block_of, original_frame
from diskret.remote.registered import Access, DataSet

if TYPE_CHECKING:
    import pandas as pd

#: The original's records and the block of each → result → its figures in each block.
Votes = Callable[["pd.DataFrame", NDArray[np.intp]], Mapping[str, Sequence[Figures | None]]]


@dataclass(frozen=True)
class Comparison:
    """What is told about the original.

    Parameters
    ----------
    results
        Result → what is told of its figures.
    new
        How many answers were given that had not been given before.
    left
        How many more the project may have.
    """

    results: Mapping[str, tuple[Compared, ...]]
    new: int
    left: int


@dataclass(frozen=True, eq=False)
class ToCompare:
    """A result that is to be compared.

    Parameters
    ----------
    shown
        The figures of the anonymised version.
    about
        All that says which question it is.
    fewest, within
        The fewest records of a figure, and the factor within which it is close.
    """

    shown: Figures
    about: tuple[Any, ...]
    fewest: int
    within: float


def comparison(
    allowance: Allowance,
    keys: SecretKeys,
    query: Query,
    who: str,
    access: Access,
    data: DataSet,
    results: Mapping[str, ToCompare],
    votes: Votes,
    blocks: int,
    strength: float,
) -> Comparison:
    """Charge the questions about some results, let the blocks of the original vote, draw answers.

    An answer is kept, and told again when the question is: a script may show something else each
    time, or lose votes because the machine is busy, and many answers to one question would tell
    more than the one that is charged.

    Parameters
    ----------
    allowance, keys
        Of the office.
    query, who, access, data
        What is asked by whom, with the access that was found for it.
    results
        Result → what there is to compare.
    votes
        What each block finds; called when all is charged.
    blocks, strength
        How many blocks there are, and how clearly answers follow their votes.

    Raises
    ------
    ProofError
        The project, or all projects on this data set, had as many answers as they may.
    """
    marks = {
        result: {
            question: question_mark(*one.about, question, strength, blocks)
            for question in questions(one.shown, one.fewest)
        }
        for result, one in results.items()
    }
    asked = [*dict.fromkeys(mark for own in marks.values() for mark in own.values())]
    names = ", ".join(results)
    new, left = allowance.charge(query, names, access, data, asked, who, strength)
    known = allowance.answers(asked)
    if len(known) < len(asked):
        frame = original_frame(data, keys)
        found = votes(frame, block_of(frame, data.unit, blocks, keys, data.name))
        given = {
            marks[result][question]: number
            for result, one in results.items()
            for question, number in answers(
                one.shown,
                found[result],
                one.fewest,
                one.within,
                strength,
                keys,
                (*one.about, blocks),
            ).items()
        }
        known = allowance.keep(query, names, who, given)
    told = {
        result: described(one.shown, {at: known[mark] for at, mark in marks[result].items()})
        for result, one in results.items()
    }
    return Comparison(told, new, left)
