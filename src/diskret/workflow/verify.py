"""Check released files against their certificate, as anyone can; and more, as the office can."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.attack import (
    Attacker,
    Examination,
    beside_filters,
    examine,
    interval_columns,
    overlapping,
)
from diskret.attack.certificate import SCHEMA, outer_intervals, refined_to
from diskret.attack.microdata.certificate import FAMILY as MICRODATA
from diskret.attack.microdata.certificate import SAFE
from diskret.attack.statements import claimed, not_claimed
from diskret.attack.unrelated import different_variables
from diskret.errors import InputError, VerificationError
from diskret.io.from_json import check_form, read_json
from diskret.keys import SecretKeys, key_file
from diskret.progress import Progress, silent
from diskret.release import (
    MICRODATA_CERTIFICATE,
    NEEDED,
    PUBLIC_CERTIFICATE,
    Releases,
    check_content,
    check_digests,
    check_plain,
    published_in,
)
from diskret.tables import CHANGES, Publication, Published
from diskret.workflow.microdata.verify import verify_microdata, verify_microdata_internal
from diskret.workflow.microdata.verify_safe import verify_safe, verify_safe_internal
from diskret.workflow.verify_changed import verify_changed, verify_changed_internal
from diskret.workflow.verify_derived import verify_derived
from diskret.workflow.verify_files import check_files
from diskret.workflow.verify_internal import verify_internal

_SUFFIX = ".certificate.json"
_EXAMPLES = 5
_SUPPRESSION = "suppression"
_OF_ATTACKS = {"attacker", "tables", "beside", "sums", "refined_to", "outer_intervals", "intervals"}
_UNSEALED = (
    "internal files: as they are listed beside them; whether that list is the one that was written "
    "was not checked without the key"
)


@dataclass(frozen=True)
class VerifyReport:
    """What was checked and held.

    Parameters
    ----------
    tables
        Names of the tables, and of files of records.
    suppressed
        Number of suppressed cells that were attacked again.
    checked_internal
        Whether the office's own files were checked as well.
    sealed
        Whether the office's key confirmed that all files, public and internal, are those that
        were written.
    lines
        What was found, one sentence a line; also what was not checked.
    """

    tables: tuple[str, ...]
    suppressed: int
    checked_internal: bool
    sealed: bool
    lines: tuple[str, ...]


def verify(
    folder: str | PathLike[str],
    internal: str | PathLike[str] | None = None,
    *,
    keys: SecretKeys | str | PathLike[str] | None = None,
    releases: Releases = (),
    progress: Progress = silent,
) -> VerifyReport:
    """Check released tables from their public files alone, and the office's files if there.

    Anyone can check the public part: that the files have the digests that the certificate
    names, that Parquet, workbook and page show what the CSV says and nothing else, that an attack
    on the published table gives the intervals it states, and that derived figures and combined
    tables follow from the published values. With the internal folder the requirements are proven
    anew from the witnesses. With the key the office knows that every file, public or internal, is
    the one that was written, and that the inputs have their fingerprints.

    Parameters
    ----------
    folder
        A folder with ``public/`` (and ``internal/``), or a folder of public files.
    internal
        Folder of internal files; by default ``internal/`` beside ``public/`` if it exists.
    keys
        The office's keys; see `SecretKeys`. Only used with an internal folder. Without a key file
        what needs the key is not checked, and a line says so.
    releases
        Folders of other releases: those that the tables were attacked beside, as their
        certificates say, and those that derived figures refer to, e.g. that of the earlier
        period of a growth rate. What needs a release that is not given is not attacked or
        computed again, and the lines say so.
    progress
        Called with ``("attack", done, total)``.

    Raises
    ------
    InputError
        The folder holds no released table.
    KeyFileError
        The key file that is named is missing or damaged.
    VerificationError
        Files and certificate disagree, or a file is missing, additional, or a link; says which
        and where.
    ContradictionError
        The published values contradict each other.
    """
    public, inside = _folders(Path(folder), None if internal is None else Path(internal))
    certificates = sorted(public.glob(f"*{_SUFFIX}"))
    if not certificates:
        raise InputError(f"{public} holds no released table (no *{_SUFFIX} file)")
    check_plain(public)
    contents = {path.name.removesuffix(_SUFFIX): _read(path) for path in certificates}
    listed = [content["files"] for content in contents.values()]
    check_digests(public, {file: mark for files in listed for file, mark in files.items()})
    secret = _key(keys) if inside is not None else None
    lines: list[str] = []
    if inside is not None:
        check_content(public, inside, secret)
        lines += [_UNSEALED] if secret is None else []
    suppressed = 0
    tables: list[Published] = []
    groups: list[Publication] = []
    records = {name for name, content in contents.items() if content["family"] in (MICRODATA, SAFE)}
    for name in sorted(records):
        content = contents.pop(name)
        if content["family"] == SAFE:
            lines.append(verify_safe(public, name, content))
            if inside is not None:
                lines.append(verify_safe_internal(inside, public, name, content, secret))
        else:
            lines.append(verify_microdata(public, name, content))
            if inside is not None:
                lines.append(verify_microdata_internal(inside, public, name, content, secret))
    changed = {name for name, content in contents.items() if content["family"] in CHANGES}
    for name in sorted(changed):
        content = contents.pop(name)
        table = verify_changed(public, name, content)
        tables.append(table)
        remark = check_files(public, table, content)
        lines.append(
            f"{name}: files unchanged; values were changed as the certificate says{remark}"
        )
        if inside is not None:
            lines.append(verify_changed_internal(inside, table, content, secret))
    for names in _groups(contents):
        group = [contents[name] for name in names]
        publication, missing = _read_group(public, names, group, releases)
        if missing:
            _check_texts(publication, group, len(missing) + len(publication.beside))
        else:
            _verify_public(publication, group, progress)
        groups.append(publication)
        tables += publication.own
        for table, content in zip(publication.own, group, strict=True):
            remark = check_files(public, table, content)
            hidden = int(table.suppressed.sum())
            suppressed += 0 if missing else hidden
            others = [other for other in names if other != table.name]
            others += [table.name for table in publication.tables[len(publication.own) :]]
            with_ = f", attacked together with {', '.join(others)}" if others else ""
            lines.append(
                f"{table.name}: files unchanged; "
                + (
                    "not attacked again, because tables of earlier releases that were attacked "
                    "with it are not among those given: " + ", ".join(missing[:_EXAMPLES])
                    if missing
                    else f"intervals of {hidden:,} suppressed cells confirmed{with_}"
                )
                + remark
            )
        if inside is not None:
            lines += verify_internal(inside, publication, group, secret, complete=not missing)
    _check_apart(groups)
    lines += verify_derived(public, tables, releases, records)
    named = tuple(path.name.removesuffix(_SUFFIX) for path in certificates)
    return VerifyReport(named, suppressed, inside is not None, secret is not None, tuple(lines))


def _groups(contents: Mapping[str, dict[str, Any]]) -> list[tuple[str, ...]]:
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


def _folders(folder: Path, internal: Path | None) -> tuple[Path, Path | None]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder")
    public = folder / "public" if (folder / "public").is_dir() else folder
    beside = public.parent / "internal"
    if internal is None and public.name == "public" and beside.is_dir():
        internal = beside
    if internal is not None and not internal.is_dir():
        raise InputError(f"{internal} is not a folder")
    return public, internal


def _read_group(
    public: Path, names: Sequence[str], certificates: Sequence[dict[str, Any]], releases: Releases
) -> tuple[Publication, list[str]]:
    """Tables with those of earlier releases that they were attacked with; which are missing."""
    own = Publication.read(public, names, certificates[0].get("sums", []))
    named = certificates[0].get("beside", [])
    if any(certificate.get("beside", []) != named for certificate in certificates):
        raise VerificationError(
            f"the certificates of {', '.join(names)} do not name the same earlier releases"
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
    except (KeyError, TypeError) as error:
        raise VerificationError(
            f"the certificate of {names[0]} does not say which earlier tables it means: {error}"
        ) from None
    return Publication(tuple(tables), own.sums, tuple(beside)), missing


def _check_texts(
    publication: Publication, certificates: Sequence[dict[str, Any]], earlier: int
) -> None:
    """Check what can be checked without the earlier releases: what is and is not claimed."""
    for table, certificate in zip(publication.own, certificates, strict=True):
        outer = certificate.get("outer_intervals") or 0
        if not _texts_fit(certificate, publication, outer, earlier):
            raise _changed(table)


def _changed(table: Published) -> VerificationError:
    return VerificationError(
        f"{table.name}: the certificate does not say what is and is not claimed of this "
        "table as it was written; its text was changed"
    )


def _verify_public(
    publication: Publication, certificates: Sequence[dict[str, Any]], progress: Progress
) -> None:
    found = examine(publication, Attacker(), progress=progress)
    for table, own, certificate in zip(
        publication.own, found.of_tables(publication), certificates, strict=False
    ):
        if interval_columns(table, own) != certificate.get("intervals"):
            raise VerificationError(
                f"{table.name}: an attack on the published table gives other intervals than the "
                "certificate states; the table or the certificate was changed"
            )
        if not _says(certificate, publication, own):
            raise _changed(table)


def _says(certificate: Mapping[str, Any], publication: Publication, found: Examination) -> bool:
    """Whether the texts of a certificate are those that belong to what was published."""
    return (
        _texts_fit(certificate, publication, found.outer, len(publication.beside))
        and certificate.get("outer_intervals") == outer_intervals(found).get("outer_intervals")
        and certificate.get("refined_to") == refined_to(publication)
        and certificate.get("sums", []) == [str(equation) for equation in publication.sums]
    )


def _texts_fit(
    certificate: Mapping[str, Any], publication: Publication, outer: int, earlier: int
) -> bool:
    contributor = certificate.get("attacker") == "contributor"
    kinds = [Attacker(zeros_known=known, contributor=contributor) for known in (False, True)]
    # what three tables say together can be told if all of them are there
    missing = earlier > len(publication.beside)
    parts, rests = (
        (True, False, None) if missing else (True, False) if there else (None,)
        for there in (overlapping(publication), beside_filters(publication))
    )
    # only the records tell how variables lie in each other
    different = different_variables(publication.tables)
    crossed = (True, False) if different else (True, False, None) if missing else (None,)
    among_contributors = (False, True) if contributor else (False,)
    several = earlier + len(publication.own) > 1
    known = [
        {"unlisted": unlisted, "already": already, "untold": untold}
        for unlisted in (among_contributors if earlier else (False,))
        for already in (among_contributors if earlier else (False,))
        for untold in (among_contributors if several else (False,))
    ]
    admissible = [
        (
            claimed(publication, outer, earlier, contributor, *judged),
            not_claimed(
                publication,
                kind,
                earlier,
                complete,
                judged[0],
                groups=groups,
                rests=judged[1],
                crossed=judged[2],
                **of_contributors,
            ),
        )
        for groups, kind, complete, of_contributors, *judged in product(
            (False, True),
            kinds,
            (True, False) if missing else (None,),
            known,
            parts,
            rests,
            crossed,
        )
    ]
    return (
        certificate.get("claimed"),
        certificate.get("not_claimed"),
    ) in admissible and certificate.get("attacker") in ("outsider", "informed", "contributor")


def _check_apart(groups: Sequence[Publication]) -> None:
    """Refuse tables with common cells that were not attacked together."""
    for one, other in combinations(groups, 2):
        for first, second in product(one.own, other.own):
            alike = (first.measure, first.vintage) == (second.measure, second.vintage)
            if alike and first.where.overlaps(second.where):
                raise VerificationError(
                    f"{first.name} and {second.name} have common cells, but the certificates do "
                    "not say that they were attacked together"
                )


def _key(keys: SecretKeys | str | PathLike[str] | None) -> SecretKeys | None:
    """The office's key; None if there is no key file and none was named."""
    if keys is None and not key_file().exists():
        return None
    return SecretKeys.load(keys, create=False)


def _read(path: Path) -> dict[str, Any]:
    content = read_json(path, VerificationError)
    family = content.get("family") if isinstance(content, dict) else None
    if family not in (_SUPPRESSION, MICRODATA, SAFE, *CHANGES):
        raise VerificationError(f"{path} is no certificate of a table or of microdata")
    records = family in (MICRODATA, SAFE)
    form = MICRODATA_CERTIFICATE if records else PUBLIC_CERTIFICATE
    # what belongs to attacks has no place where values were changed, and the other way round
    foreign = {"shown"} if family == _SUPPRESSION else set[str]() if records else _OF_ATTACKS
    form = {key: part for key, part in form.items() if key not in foreign}
    check_form(content, form, str(path), VerificationError)
    needed = {*NEEDED, *({"attacker", "intervals"} if family == _SUPPRESSION else ())}
    missing = sorted(needed - set(content))
    if missing:
        raise VerificationError(f"{path} does not hold {', '.join(missing)}")
    name = path.name.removesuffix(_SUFFIX)
    if (content["schema"], content["name"]) != (SCHEMA, name):
        raise VerificationError(f"{path} is not about {name!r} in the schema {SCHEMA!r}")
    return content
