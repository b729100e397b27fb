"""The last guard before files leave: nothing is public that is not on a list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from diskret.errors import InputError, ProofError, VerificationError
from diskret.io.from_json import read_json
from diskret.publish.contract import Records, Streamed
from diskret.publish.derived import COMBINED, DERIVED
from diskret.publish.difference import PREVIOUS
from diskret.publish.digests import CERTIFICATE, check_digests, is_lock, listed_files
from diskret.publish.exchange import EXCHANGE
from diskret.publish.guard.derived import combined_problems, derived_problems
from diskret.publish.guard.difference import difference_problems, said_problems
from diskret.publish.guard.exchange import exchange_problems
from diskret.publish.guard.microdata import MICRODATA_ENDINGS, records_problems
from diskret.publish.guard.tables import PUBLIC_ENDINGS, streamed_problems, table_problems
from diskret.publish.guard.template import template_problems
from diskret.publish.read import Releases
from diskret.publish.script import SCRIPT, is_script
from diskret.tables import Derived, Difference, Published, SideBySide
from diskret.tables.public_files import STRUCTURE

_COLUMNS = (".csv", ".parquet", ".xlsx")
#: What the names of files may end with.
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "tables": PUBLIC_ENDINGS,
    "streamed": (".parquet", STRUCTURE, CERTIFICATE),  # nothing else is read back
    "records": MICRODATA_ENDINGS,
    "figures": (*_COLUMNS, *EXCHANGE.values(), DERIVED),
    "combined": (*_COLUMNS, *EXCHANGE.values(), COMBINED),
    "differences": (*_COLUMNS, PREVIOUS),
}


@dataclass(frozen=True)
class FilledTemplate:
    """A workbook in the layout of the office among the public files, and what it was made from.

    `texts` may stand in it beside those of the template: symbols, legends, titles, labels.
    """

    name: str
    template: Path
    texts: Collection[str]


def check_public(
    folder: str | PathLike[str],
    public: Sequence[Published | Streamed | Records],
    filled: FilledTemplate | None = None,
    *,
    derived: Sequence[Derived] = (),
    combined: Sequence[SideBySide] = (),
    differences: Sequence[Difference] = (),
    releases: Releases = (),
) -> None:
    """Refuse a public folder that holds anything beyond what may leave.

    All data must read back to exactly what was proven; certificates, workbooks and pages hold what
    is on a list; derived figures and differences follow from published values, those in `releases`
    included.
    """
    folder = Path(folder)
    problems = list(_names(folder, public, filled, derived, combined, differences))
    if not problems:
        tables = [one for one in public if isinstance(one, Published)]
        for one in public:
            match one:
                case Published():
                    problems += table_problems(one, folder)
                case Streamed():
                    problems += streamed_problems(one, folder)
                case Records():
                    problems += records_problems(one, folder)
        for figure in derived:
            problems += derived_problems(folder, figure, tables, releases)
            problems += exchange_problems(folder, figure)
        for shown in combined:
            problems += combined_problems(folder, shown, tables)
            problems += exchange_problems(folder, shown)
        for one in differences:
            problems += difference_problems(folder, one, releases)
        for table in () if problems else tables:
            said = read_json(folder / f"{table.name}{CERTIFICATE}").get("difference")
            problems += said_problems(folder, table, said)
        if filled is not None:
            path = folder / filled.name
            problems += template_problems(path, filled.template, tables, filled.texts)
        problems += _digests(folder, public)
    if problems:
        raise ProofError(
            "the public files were not released, because they hold more or other things than "
            f"may leave: {'; '.join(problems)}"
        )


def file_names(**named: Iterable[str]) -> set[str]:
    """All files that a release may hold, by the names of what is in it, by `_ENDINGS`."""
    return {
        name + ending
        for what, names in named.items()
        for name in names
        for ending in _ENDINGS[what]
    }


def _names(
    folder: Path,
    public: Sequence[Published | Streamed | Records],
    filled: FilledTemplate | None,
    derived: Sequence[Derived],
    combined: Sequence[SideBySide],
    differences: Sequence[Difference],
) -> Iterator[str]:
    expected = file_names(
        tables=[one.name for one in public if isinstance(one, Published)],
        streamed=[one.name for one in public if isinstance(one, Streamed)],
        records=[one.name for one in public if isinstance(one, Records)],
        figures=[figure.name for figure in derived],
        combined=[shown.name for shown in combined],
        differences=[one.name for one in differences],
    )
    if filled is not None:
        # it must not take the place of a table's own workbook, which is checked otherwise
        if filled.name in expected:
            yield f"{filled.name} is the name of two files"
        expected.add(filled.name)
    for path in sorted(folder.iterdir()):
        if is_lock(path):
            continue
        if path.name not in {*expected, SCRIPT}:
            yield f"{path.name} is no file of this release"
        elif path.is_symlink() or not path.is_file():
            yield f"{path.name} is not a plain file"
        elif path.name == SCRIPT and not is_script(path):
            yield f"{path.name} is not the program that checks releases"


def _digests(folder: Path, public: Sequence[Published | Streamed | Records]) -> Iterator[str]:
    try:
        lists = {
            one.name: read_json(folder / f"{one.name}{CERTIFICATE}")["files"] for one in public
        }
        check_digests(folder, listed_files(lists))
    except (InputError, OSError, ValueError, KeyError, TypeError) as error:
        yield f"the certificates do not list the files ({error!r})"
    except VerificationError as error:
        yield str(error)
