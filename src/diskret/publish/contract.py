"""What every method hands over to be written, recorded and checked: public values, certificate.

Whatever a method did, a `Release` says of it what leaves the office, what is claimed of that, and
how to write what the office keeps. It carries no original table and no record: these stand behind
functions that nothing but the office's own folder and ledger are given.
"""

# pyarrow has no type information for its classes.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from diskret import __version__
from diskret.attack import NoiseCertificate, SuppressionCertificate
from diskret.attack.certificate import Proof
from diskret.io import FrameKind
from diskret.io.code_book import CodeBook
from diskret.io.from_json import Form
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.tables import Block, CellsDigest, Outline, Perturbed, Published, Table
from diskret.tables.requirements import Earlier

if TYPE_CHECKING:
    from diskret.spatial import Areas  # loads all that makes maps

_TEXT: Form = {"en": [str], "de": [str]}
#: What every public certificate holds, as `diskret.io.from_json` describes it; not the time of
#: writing: the same release, the same bytes.
NEEDED: Form = {
    **dict.fromkeys(("schema", "family", "name", "software"), str),
    "claimed": _TEXT,
    "not_claimed": _TEXT,
    "files": {"*": str},
    "inputs": {"*": str},
}


@dataclass(frozen=True, eq=False)
class Records:
    """Records that may leave, as they were certified; `name` is that of the file.

    `book`: the labels that files of Stata, SPSS and SAS may hold of them. `missing`: columns of
    numbers, with the code that says why a value is missing, as text; null where none does.
    """

    name: str
    table: pa.Table
    book: CodeBook = CodeBook()
    missing: Mapping[str, pa.ChunkedArray] = field(default_factory=dict[str, pa.ChunkedArray])

    @property
    def outline(self) -> dict[str, Any]:
        """What the public certificate says of them, JSON-ready."""
        return {"records": self.table.num_rows, "columns": self.table.column_names}


@dataclass(frozen=True, eq=False)
class Streamed:
    """A table that nobody holds: its cells come once, block by block, as they were certified.

    `digest`: of the cells that have come so far, to compare with those that were written.
    """

    outline: Outline
    cells: Iterator[Block]
    digest: CellsDigest = field(default_factory=CellsDigest)

    @property
    def name(self) -> str:
        """Of the files."""
        return self.outline.name

    def blocks(self) -> Iterator[Block]:
        """All cells."""
        for block in self.cells:
            self.digest.add(block)
            yield block


@dataclass(frozen=True)
class Look:
    """In which files something is written, and what these look like.

    `formats` are some of csv, parquet, xlsx, html, script, those of `EXCHANGE` and of `MAPS`;
    `language` of workbooks and pages is one of `LANGUAGES`; `symbols` a `SymbolSet`, None where
    there are no workbooks; `neutralise` as of `write_csv`; `titles` name → heading of workbook and
    pages, else the name or what is shown; `agency` maintains the dataflows that SDMX-CSV names;
    `places` dimension → borders of its codes, for maps.
    """

    formats: tuple[str, ...]
    language: str = "en"
    symbols: Any = None
    neutralise: bool = False
    titles: Mapping[str, str] = field(default_factory=dict[str, str])
    agency: str = "OFFICE"
    places: Mapping[str, Areas] = field(default_factory=dict[str, "Areas"])


@dataclass(frozen=True, eq=False)
class Memory:
    """What a ledger keeps of a release. Confidential.

    `how` says in words how values were changed, empty: they were not; `unbounded`: nothing follows
    for other cells, because they were changed without a bound.
    """

    table: Earlier
    how: str = ""
    unbounded: bool = False


class Page(Protocol):
    """Writes the page for readers."""

    def __call__(
        self, certificate: Mapping[str, Any], path: Path, *, title: str | None, language: str
    ) -> None:
        """The page shows what the certificate says, and its digests of other files."""
        ...


#: Writes what the office keeps into its folder; is told the public certificate, with digests.
Internal = Callable[[Path, Look, Mapping[str, Any]], None]


@dataclass(frozen=True, eq=False)
class Release:
    """One table or file of records that leaves, and how what stays is written.

    `certificate` says what is and is not claimed, for everybody; digests are added when files are
    written. `inputs` are keyed fingerprints of what it was made from, by what that is. `memory`
    gives what a ledger keeps, told the name of the release there; None: ledgers remember tables
    only.
    """

    public: Published | Streamed | Records
    certificate: Mapping[str, Any]
    inputs: Mapping[str, str]
    page: Page
    internal: Internal
    memory: Callable[[str], Memory] | None = None

    @property
    def name(self) -> str:
        """Of the files."""
        return self.public.name

    def __repr__(self) -> str:
        return f"Release({self.name!r})"


class Protected(Protocol):
    """A protected table as a verb returns it; confidential but for `published`."""

    @property
    def name(self) -> str:
        """Name of the published table and its files."""
        ...

    @property
    def before(self) -> Table | None:
        """The table before it was protected, confidential; None: only an engine knows it."""
        ...

    @property
    def published(self) -> Published:
        """What the world sees."""
        ...

    @property
    def certificate(self) -> SuppressionCertificate | NoiseCertificate:
        """What is claimed."""
        ...

    @property
    def frame_kind(self) -> FrameKind:
        """The kind of frame that the user brought and gets back."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Method and parameters."""
        ...

    @property
    def proof(self) -> Proof | None:
        """How hidden cells were proven to be, together with other tables; None: none is hidden."""
        ...

    @property
    def known(self) -> Perturbed | None:
        """How far true values can lie from published ones; None: no bound can be relied on."""
        ...

    def losses(self, language: str = "en") -> Sequence[str]:
        """What was lost by changing values, in sentences; none where the certificate says it."""
        ...

    def remembered(self, release: str) -> Earlier:
        """What later tables have to know of this one, once a release of this name holds it."""
        ...

    def release(
        self,
        keys: SecretKeys,
        *,
        explain: int = 0,
        previous: Published | None = None,
        progress: Progress = silent,
    ) -> Release:
        """What is written and recorded of it."""
        ...


#: Name and version of any release of the software.
SOFTWARE = re.compile(
    r"diskret \d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9.]+)?", re.ASCII
)


def software() -> str:
    """Name and version, e.g. ``"diskret 0.1.0"``."""
    return f"diskret {__version__}"
