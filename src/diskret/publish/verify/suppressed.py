"""Check tables with suppressed cells: attacked again, from the public files alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from diskret.attack import (
    Attacker,
    Examination,
    beside_filters,
    examine,
    interval_columns,
    may_have_parts,
    overlapping,
)
from diskret.attack.all_cells import all_cells
from diskret.attack.certificate import TIES, least_width, outer_intervals, refined_to
from diskret.attack.solver import doubt
from diskret.attack.statements import Scope, claimed, different_variables, not_claimed
from diskret.errors import VerificationError
from diskret.progress import Progress
from diskret.publish.contract import NEEDED
from diskret.publish.digests import is_mark
from diskret.publish.guard.tables import PUBLIC_CERTIFICATE
from diskret.publish.read import Releases, published_in
from diskret.publish.verify.files import check_files
from diskret.publish.verify.internal import verify_internal
from diskret.publish.verify.kind import Checked, Kind, Place
from diskret.tables import Publication, Published
from diskret.texts.numbers import Count

_EXAMPLES = 5


def _check(place: Place, certificates: Mapping[str, dict[str, Any]]) -> Checked:
    lines: list[str] = []
    groups: list[Publication] = []
    suppressed = 0
    for names in _together(certificates):
        group = _read(place.public, names, [certificates[name] for name in names], place.releases)
        publication = group.publication
        _verify_public(group, place.progress)
        if not group.missing:
            suppressed += sum(int(table.suppressed.sum()) for table in publication.own)
        groups.append(publication)
        lines += _confirmed(place.public, group)
        if place.internal is not None:
            lines += verify_internal(
                place.internal,
                publication,
                group.certificates,
                place.keys,
                complete=not group.missing,
            )
    tables = (table for publication in groups for table in publication.own)
    return Checked(tuple(lines), tuple(tables), tuple(groups), suppressed)


#: What belongs to changed values has no place here.
SUPPRESSED = Kind(
    families=("suppression",),
    form={key: part for key, part in PUBLIC_CERTIFICATE.items() if key != "shown"},
    needed=frozenset({*NEEDED, "attacker", "intervals"}),
    check=_check,
)


@dataclass(frozen=True, eq=False)
class _Group:
    """Tables that were attacked together, each with its certificate.

    `missing` names tables of earlier releases that they were attacked with and that are not given.
    """

    publication: Publication
    certificates: Sequence[dict[str, Any]]
    missing: Sequence[str]

    @property
    def tables(self) -> list[tuple[Published, dict[str, Any]]]:
        """Each table with its certificate."""
        return list(zip(self.publication.own, self.certificates, strict=True))

    @property
    def earlier(self) -> int:
        """How many tables of earlier releases they were attacked with."""
        return len(self.missing) + len(self.publication.beside)


def _confirmed(public: Path, group: _Group) -> list[str]:
    """What held of tables that were attacked together, a line for each."""
    lines: list[str] = []
    missing, together = group.missing, group.publication.tables
    for table, content in group.tables:
        remark = check_files(public, table, content)
        others = [other.name for other in together if other is not table]
        with_ = f", attacked together with {', '.join(others)}" if others else ""
        number = Count(table.suppressed.sum())
        lines.append(
            f"{table.name}: files unchanged; "
            + (
                "intervals not confirmed, but attacked without tables of earlier releases that "
                "were attacked with it and are not given: " + ", ".join(missing[:_EXAMPLES])
                if missing
                else f"intervals of {number} suppressed {number:cell|cells} confirmed{with_}"
            )
            + remark
        )
    return lines


def _together(contents: Mapping[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """Tables that were attacked together, each group once."""
    groups: dict[tuple[str, ...], None] = {}
    for name, content in contents.items():
        together = content.get("tables", [name])
        if name not in together:
            raise VerificationError(f"{name}: the certificate does not list the table itself")
        missing = [str(other) for other in together if other not in contents]
        if missing:
            raise VerificationError(
                f"{name}: was attacked together with {', '.join(missing)}, not in this folder"
            )
        if any(contents[other].get("tables", [other]) != together for other in together):
            raise VerificationError(
                f"{name}: the certificates of {', '.join(together)} do not name the same tables"
            )
        groups[tuple(together)] = None
    return list(groups)


def _read(
    public: Path, names: Sequence[str], certificates: Sequence[dict[str, Any]], releases: Releases
) -> _Group:
    """Tables with those of earlier releases that they were attacked with."""
    own = Publication.read(public, names, certificates[0].get("sums", []))
    named = certificates[0].get("beside", [])
    if not all(is_mark(one["digest"]) for one in named if "digest" in one):
        raise VerificationError(f"the certificate of {names[0]} lists what is no digest")
    if any(certificate.get("beside", []) != named for certificate in certificates):
        raise VerificationError(
            f"the certificates of {', '.join(names)} do not name the same earlier releases"
        )
    if len({certificate["attacker"] for certificate in certificates}) > 1:
        raise VerificationError(
            f"the certificates of {', '.join(names)} do not name the same attacker"
        )
    found, beside, missing = published_in(releases) if named else {}, [], []
    tables = list(own.tables)
    try:
        for one in named:
            name = f"{one['release']}/{one['table']}"
            table = found.get((one["table"], one["digest"]))
            if table is None:
                missing.append(name)
            else:
                tables.append(replace(table, name=name))
                beside.append((one["release"], one["table"]))
    except KeyError as error:
        raise VerificationError(
            f"the certificate of {names[0]} does not say which earlier tables it means: {error}"
        ) from None
    return _Group(Publication(tuple(tables), own.sums, tuple(beside)), certificates, missing)


def _verify_public(group: _Group, progress: Progress) -> None:
    publication = group.publication
    # how much was told depends on the time that the office had, which the certificate says
    quick = any(certificate.get("single_equations") for _, certificate in group.tables)
    found = examine(publication, Attacker(), progress=progress, quick=quick)
    for (table, certificate), own in zip(group.tables, found.of_tables(publication), strict=False):
        told, stated = interval_columns(table, own), certificate["intervals"]
        narrower = group.missing and _within(stated, told, bool(certificate.get("outer_intervals")))
        if told != stated and not narrower:
            raise VerificationError(
                f"{table.name}: an attack on the published table gives other intervals than the "
                "certificate states; the table or the certificate was changed"
            )
        if np.any(own.upper - own.lower < least_width(table) - doubt(own.upper)):
            raise VerificationError(
                f"{table.name}: a suppressed cell can be computed from what is published, and the "
                "certificate claims that none can"
            )
        if not _says(certificate, group, own):
            raise VerificationError(
                f"{table.name}: the certificate does not say what is and is not claimed of this "
                "table as it was written; its text was changed"
            )


def _within(stated: Mapping[str, Any], told: Mapping[str, Any], outer: bool) -> bool:
    """Whether intervals are of the same cells, and no wider where more tables tell more.

    `outer`: those stated are bounds of the true ones, which may be wider than what is told here.
    """
    ends = {"lower": -math.inf, "upper": math.inf}
    cells = [{key: of[key] for key in of.keys() - ends.keys()} for of in (told, stated)]
    if cells[0] != cells[1] or not ends.keys() <= stated.keys():
        return False
    (least, most), (lower, upper) = (
        [[side if end is None else end for end in of[key]] for key, side in ends.items()]
        for of in (told, stated)
    )
    return len(least) == len(lower) == len(upper) and all(
        low <= high and (outer or (a <= low and high <= b))
        for a, low, high, b in zip(least, lower, upper, most, strict=True)
    )


def _says(certificate: Mapping[str, Any], group: _Group, found: Examination) -> bool:
    """Whether the texts of a certificate are those that belong to what was published."""
    publication = group.publication
    outer, quick = certificate.get("outer_intervals"), certificate.get("single_equations")
    if group.missing:  # these tell how far the attack got, and how the tables are tied
        some = outer is not None and 1 <= outer <= len(found.cell)
        fits = quick in (None, True) if some else outer is quick is None
        tied = TIES
    else:
        told = outer_intervals(found)
        fits = (outer, quick) == (told.get("outer_intervals"), told.get("single_equations"))
        tied = (refined_to(publication),)
    return (
        fits
        and certificate.get("refined_to") in tied
        and _texts_fit(certificate, publication, outer or 0, bool(quick), group.earlier)
    )


def _texts_fit(
    certificate: Mapping[str, Any], publication: Publication, outer: int, quick: bool, earlier: int
) -> bool:
    attacker = certificate["attacker"]
    contributor = attacker == "contributor"
    kinds = [Attacker(zeros_known=known, contributor=contributor) for known in (False, True)]
    if attacker == "outsider":
        kinds = kinds[:1]
    admissible = [
        (
            claimed(publication, scope, contributor, outer, quick),
            not_claimed(publication, scope, kind),
        )
        for kind, scope in product(kinds, _scopes(publication, earlier, contributor))
    ]
    said = certificate["claimed"], certificate["not_claimed"]
    sums = [str(equation) for equation in publication.sums]
    return (
        attacker in ("outsider", "informed", "contributor")
        and certificate.get("sums", []) == sums
        and said in admissible
    )


def _scopes(publication: Publication, earlier: int, contributor: bool) -> Iterator[Scope]:
    """What may have been attacked and judged, as far as readers cannot find it out."""
    either = (False, True)
    # what three tables say together can be told if all of them are there
    missing = earlier > len(publication.beside)
    unknown = (True, False, None)
    # only the records tell how variables lie in each other
    different = different_variables(publication.tables)
    among_contributors = either if contributor else (False,)
    several = earlier + len(publication.own) > 1
    # releases of before say nothing of parts where only cells that were changed may be some
    parts = either if overlapping(publication) else (None,)
    if missing or (parts == (None,) and may_have_parts(publication)):
        parts = unknown
    may_be: dict[str, tuple[Any, ...]] = {
        "complete": either if missing else (all_cells(publication).complete,),
        "parts": parts,
        "rests": unknown if missing else either if beside_filters(publication) else (None,),
        "crossed": either if different else unknown if missing else (None,),
        "groups": either,
        "unlisted": among_contributors if earlier else (False,),
        "untold": among_contributors if several else (False,),
        "already": among_contributors if earlier else (False,),
    }
    for values in product(*may_be.values()):
        yield Scope(earlier, **dict(zip(may_be, values, strict=True)))
