"""The assistant of recoding: small recodings, their risk and their loss, the best first."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa

from diskret.anonymize.missing_codes import missing as missing_codes
from diskret.anonymize.trees import Tree, tree, written
from diskret.io import from_arrow
from diskret.microdata.candidates import Candidate, Outcome, candidates, outcome
from diskret.parameters import Whole, reading
from diskret.progress import Progress, silent
from diskret.risk import Missing
from diskret.risk.keys import check_keys

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata


@reading
def recode_candidates(
    md: Microdata,
    hierarchies: Mapping[str, Tree] | None = None,
    k: Annotated[int, Whole(2)] = 3,
    *,
    keys: Sequence[str] | None = None,
    missing: Missing = "wildcard",
    progress: Progress = silent,
) -> Any:
    """Try small recodings of the keys, and show what each does to risk and to information.

    Tried are, one at a time: neighbouring categories of keys with an order (numbers, dates, those
    with `orders`) put together, those with the fewest records; pairs of the smallest categories of
    other keys, with a hierarchy below the same code; for numbers top and bottom coding that
    reaches 1, 5 and 10 percent of the records; rounding; and the levels of hierarchies. Carry one
    out and ask again.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    hierarchies
        Key → its code tree, the path of its ``.hrc`` file, or code → parent.
    k
        Records whose keys occur less often count as recognisable.
    keys
        Names of the keys; None: all.
    missing
        What missing values stand for, see [`frequencies`][diskret.risk.frequencies].
    progress
        Called with ``("recode", done, total)``.

    Returns
    -------
    frame
        In the caller's kind, one row a candidate, confidential: ``variable``, ``recoding`` in
        words, and ``arguments``, JSON, for ``md.recode(**json.loads(arguments))``; ``below_k``,
        ``sample_uniques`` and ``expected_reidentifications`` afterwards, each with ``_before``;
        ``categories_lost``; ``entropy_lost``, the bits for each record that are needed to get
        from the new category to the old one. First stands what brings the most records to `k` for
        each bit that is lost; of equals, what loses least.

    Raises
    ------
    InputError
        A hierarchy is for no key or does not fit its values, or an option is not admissible.

    Examples
    --------
    >>> from diskret import Microdata
    >>> persons = pa.table({"job": ["cook"] * 3 + ["baker", "butcher"], "sex": list("fffmm")})
    >>> tried = recode_candidates(Microdata(persons, keys=["job", "sex"]), k=2).to_pylist()
    >>> tried[0]["recoding"], tried[0]["below_k_before"], tried[0]["below_k"]
    ("'baker' and 'butcher' together", 2, 0)
    """
    chosen, weights = md.keys(keys), md.weights()
    check_keys(hierarchies or {}, chosen.names, "hierarchies")
    trees = {name: tree(given, name) for name, given in (hierarchies or {}).items()}
    before = outcome(chosen, k, weights, missing)
    apart = {
        one.name: missing_codes(
            md, one.name, one.categories, trees[one.name].position if one.name in trees else ()
        )
        for one in chosen.columns
    }
    tried = list(candidates(chosen, trees, md.roles.orders, apart))
    rows: list[tuple[Candidate, Outcome]] = []
    for done, candidate in enumerate(tried):
        progress("recode", done, len(tried))
        rows.append((candidate, outcome(chosen, k, weights, missing, candidate)))
    progress("recode", len(tried), len(tried))
    rows.sort(key=lambda row: _rank(before, row[1]))
    frame = pa.table(
        {
            "variable": pa.array([c.variable for c, _ in rows], pa.string()),
            "recoding": pa.array([c.what for c, _ in rows], pa.string()),
            "arguments": pa.array([_arguments(c, hierarchies or {}) for c, _ in rows], pa.string()),
            "below_k_before": pa.array([before.below] * len(rows), pa.int64()),
            "below_k": pa.array([o.below for _, o in rows], pa.int64()),
            "sample_uniques_before": pa.array([before.uniques] * len(rows), pa.int64()),
            "sample_uniques": pa.array([o.uniques for _, o in rows], pa.int64()),
            "expected_reidentifications_before": pa.array(
                [before.expected] * len(rows), pa.float64()
            ),
            "expected_reidentifications": pa.array([o.expected for _, o in rows], pa.float64()),
            "categories_lost": pa.array([o.categories_lost for _, o in rows], pa.int64()),
            "entropy_lost": pa.array([o.entropy_lost for _, o in rows], pa.float64()),
        }
    )
    return from_arrow(frame, md.kind)


def _rank(before: Outcome, after: Outcome) -> tuple[float, float]:
    """Records brought to k for each bit that is lost, the most first; then the least loss."""
    gained = before.below - after.below
    return -gained / max(after.entropy_lost, 1e-12), after.entropy_lost


def _arguments(candidate: Candidate, hierarchies: Mapping[str, Tree]) -> str:
    arguments = {"variable": candidate.variable, **candidate.arguments}
    if "hierarchy" in arguments:  # as it was handed over: a path stays a path
        arguments["hierarchy"] = written(hierarchies[candidate.variable])
    return json.dumps(arguments, ensure_ascii=False)
