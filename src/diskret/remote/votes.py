"""An answer about the original that hardly depends on any one unit: blocks vote, a key draws.

The records are dealt to blocks, all of a unit to one. Each block has its own result, and so a class
of its own; the answer is near the middle class of all blocks, drawn with probabilities to which
one unit matters little, whatever was computed. So nothing has to be known of the computation.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diskret.keys import SecretKeys

#: A block without a result, and the answer that there is no comparison.
NONE = -1


def probabilities(votes: Sequence[int], classes: int, strength: float) -> NDArray[np.float64]:
    r"""How likely each answer is: shape (classes + 1,), the last one that there is no comparison.

    The answer `k` has the weight :math:`\exp(\varepsilon u_k / 2)`; :math:`-u_k` counts the blocks
    without a result and those below `k` or above it, whichever are more; of no comparison, it
    counts those with a result. If one block votes otherwise, each :math:`u_k` changes by
    1 at most, so no probability changes by more than the factor :math:`e^\varepsilon`.

    Parameters
    ----------
    votes
        The class of each block, from 0; -1 where it has no result.
    classes
        How many ordered classes there are.
    strength
        :math:`\varepsilon`: how clearly the answer follows the votes.

    Sources
    -------
    McSherry and Talwar (2007), Mechanism design via differential privacy; Nissim, Raskhodnikova and
    Smith (2007), Smooth sensitivity and sampling in private data analysis (sample and aggregate).

    Examples
    --------
    >>> probabilities([1] * 60, 3, 0.2).round(3).tolist()
    [0.002, 0.993, 0.002, 0.002]
    """
    given = np.asarray(votes, np.int64)
    counts = np.bincount(given[given >= 0], minlength=classes)
    lost = len(given) - int(counts.sum())
    through = np.cumsum(counts)
    below, above = through - counts, int(counts.sum()) - through
    score = np.append(-(lost + np.maximum(below, above)), -int(counts.sum())).astype(np.float64)
    weight = np.exp(strength / 2 * (score - score.max()))
    return weight / weight.sum()


def answer(votes: Sequence[int], classes: int, strength: float, draw: float) -> int:
    """The answer that a number from 0 to below 1 draws; -1: there is no comparison.

    >>> answer([1] * 60, 3, 0.2, draw=0.5)
    1
    """
    upto = np.cumsum(probabilities(votes, classes, strength))
    at = int(np.searchsorted(upto, draw * upto[-1], "right"))
    return NONE if at >= classes else at


def drawn(keys: SecretKeys, *question: object) -> float:
    """A number from 0 to below 1 that follows from a question and the office's key.

    The same question has the same number, so asking again tells nothing new.
    """
    text = json.dumps(question, ensure_ascii=False, sort_keys=True)
    key = keys.subkey("answers of remote access")
    digest = hashlib.blake2b(text.encode(), key=key, digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53


def budget(certainty: float) -> float:
    r"""The sum of squared strengths after which somebody may be as certain as this, not more.

    Of two equally likely values of a unit, who knows all other units, the anonymised file and how
    blocks are dealt tells the right one with probability at most
    :math:`1/2 + \sqrt{\sum \varepsilon^2} / 8`.

    An answer tells the two apart by :math:`\varepsilon^2 / 8` at most in the sense of Kullback and
    Leibler (Hoeffding's lemma: the logarithm of the ratio of both probabilities lies in an interval
    of length :math:`\varepsilon`), several by the sum of that, chosen one after the other too; the
    advantage over guessing is at most half the total variation, which is at most the square root
    of half the sum (Pinsker).

    >>> budget(0.75)
    4.0
    """
    return (8 * (certainty - 0.5)) ** 2


def certain(spent: float) -> float:
    """How certain somebody may be after answers with this sum of squared strengths.

    >>> certain(4.0)
    0.75
    """
    return min(1.0, 0.5 + math.sqrt(spent) / 8)


def strength_of(certainty: float, answers: int) -> float:
    """The strength of each answer, if there may be so many.

    >>> round(strength_of(0.75, 100), 3)
    0.2
    """
    return math.sqrt(budget(certainty) / answers)
