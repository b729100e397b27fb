"""A folder of result files: each judged by what it holds and by what is hidden in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.errors import DiskretError, InputError
from diskret.io import to_arrow
from diskret.outputs.checked import Checked, worst
from diskret.outputs.files.html import html
from diskret.outputs.files.images import image
from diskret.outputs.files.kinds import (
    ARCHIVES,
    IMAGES,
    TABLES,
    TEXTS,
    WORKBOOKS,
    names_of,
    suffix_of,
)
from diskret.outputs.files.latex import latex
from diskret.outputs.files.looked_at import Found, findings
from diskret.outputs.files.notebooks import notebook
from diskret.outputs.files.said import NAME, About, read_said
from diskret.outputs.files.same import same_table
from diskret.outputs.files.tables import Said, look
from diskret.outputs.files.texts import plain
from diskret.outputs.files.workbooks import workbook
from diskret.outputs.files.zipped import archive
from diskret.outputs.profile import Profile, Verdict

_LARGE = 50_000_000  # bytes; longer files are not looked through
_LONG = 10_000_000  # bytes of a text
#: What is looked for in any file.
_MADE = ("forbidden", "link", "unread", "too_big", "unknown")
_OF_TABLES = ("microdata", "many_rows", "threshold", "zero")
_OF_WORKBOOKS = (
    "hidden", "comments", "embedded", "metadata", "formulas", "headers", "names", "cell_rules",
)  # fmt: skip
#: What reads a file of text, and what it looks for besides tables.
_READERS = {
    ".html": (html, ("embedded", "hidden", "comments", "metadata", "prose")),
    ".tex": (latex, ("comments", "prose")),
    ".ipynb": (
        notebook, ("embedded", "hidden", "comments", "metadata", "code", "prose"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class FolderChecked:
    """The files of a folder and what the checks say of each.

    Parameters
    ----------
    folder
        Where they lie.
    files
        Path inside the folder → what was found. Each `Checked` bears the path as its name.
    """

    folder: Path
    files: Mapping[str, Checked]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all files."""
        return worst([checked.verdict for checked in self.files.values()])

    def summary(self, language: str = "en") -> str:
        """Each file with its verdict and reasons, to print."""
        return "\n".join(
            f"{name}\n{_indented(checked.summary(language))}"
            for name, checked in self.files.items()
        )

    def __str__(self) -> str:
        return self.summary()


def folder(
    path: str | PathLike[str],
    *,
    profile: str | PathLike[str] | Profile = "guidelines",
    counts: Sequence[str] = (),
    said: str | PathLike[str] | None = None,
) -> FolderChecked:
    r"""The files that a researcher wants to take away, judged without records.

    Nothing is unpacked, carried out or followed. Forbidden kinds are known by their first bytes,
    whatever they are called. Tables in data files, workbooks, HTML, LaTeX, Markdown, texts and
    Jupyter notebooks are looked through for counts below the threshold and for rows that are
    records; all of these and pictures for what nobody sees: hidden sheets and elements, comments,
    scripts, formulas, attachments, embedded data, notes on the maker. What is not understood is
    for a person to review.

    Parameters
    ----------
    path
        The folder; files in folders below it are looked at, too.
    profile
        The institution's rules; see `Profile.read`.
    counts
        Columns that hold numbers of units, besides those called ``n``, ``count`` and the like.
    said
        A TOML file that says what files hold; None: ``results.toml`` in the folder, if there is
        one. It has a section for each file, such as ``["table.csv"]``, with ``counts`` (names of
        columns, or ``"all"``) and ``labels`` (numbers that are categories); or with ``call`` (a
        function of `dk.check`), ``arguments``, ``unit``, ``records`` (a file) and ``suppress``
        (whether unsafe cells were hidden): then a table in CSV or Parquet is made again from the
        records, compared, and judged by them. What a
        ``results.toml`` in the folder itself says is the researcher's word: a person must agree.

    Raises
    ------
    InputError
        There is no such folder, or it holds no files; `said` cannot be read.

    Sources
    -------
    Guidelines for the checking of output based on microdata research (DwB 2015).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> place = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (place / "firms.csv").write_text("region,n\nN,120\nS,4\n", encoding="utf-8")
    >>> checked = folder(place)
    >>> checked.verdict, checked.files["firms.csv"].reasons()
    ('fail', ['Fewer than 10 units. Here: n, S.'])
    """
    rules = Profile.read(profile)
    place = Path(path)
    if place.is_file():
        raise InputError(f"{place}: is a file; put what is to be checked into a folder and name it")
    if not place.is_dir():
        raise InputError(f"{place}: there is no such folder")
    words = place / NAME if said is None else Path(said)
    if said is not None and not words.is_file():
        raise InputError(f"{words}: there is no such file")
    about = read_said(words) if words.is_file() and not words.is_symlink() else {}
    files: dict[str, Checked] = {}
    for name, file in _walk(place, place):
        if not (file == words and name == NAME):
            checked = _checked(name, file, about.get(name), counts, rules)
            own = said is None and name in about
            files[name] = _by_the_word(checked) if own else checked
    lost = next((name for name in about if name not in files), None)
    if lost is not None:
        raise InputError(f"{words}: names {lost!r}, which is not in the folder")
    if not files:
        raise InputError(f"{place}: holds no files")
    return FolderChecked(place, files)


def _walk(top: Path, place: Path) -> Iterator[tuple[str, Path]]:
    """All that lies in a folder, links as themselves."""
    try:
        entries = sorted(os.scandir(place), key=lambda one: one.name)
    except OSError:
        yield place.relative_to(top).as_posix(), place
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(top, path)
        else:
            yield path.relative_to(top).as_posix(), path


def _checked(
    name: str, path: Path, about: About | None, counts: Sequence[str], rules: Profile
) -> Checked:
    said = about.table if about else Said()
    if said.counts != "all":
        said = Said((*said.counts, *counts), said.labels)
    made, found = _looked_at(path, said, rules)
    if about is None or not about.call:
        return Checked("file", str(path), made, findings(found, rules), rules, name=name)
    return _made_again(name, path, about, made, found, rules)


def _by_the_word(checked: Checked) -> Checked:
    """A file that is judged by what its own folder says of it: a person must agree."""
    found = findings([Found("said")], checked.profile)
    made = (*checked.made, "said")
    return replace(checked, made=made, findings=(*checked.findings, *found))


def _made_again(
    name: str,
    path: Path,
    about: About,
    made: tuple[str, ...],
    found: Sequence[Found],
    rules: Profile,
) -> Checked:
    """A table that is judged from its records, and by what the file holds besides."""
    checked = about.made(rules)
    # of others than plain tables not all is compared, so what is said of them stays
    plain_table = suffix_of(path.name, b"") in TABLES and "hidden" not in made
    judged = (*_OF_TABLES, "unknown") if plain_table else ()
    kept = [one for one in found if one.check not in judged]
    if not same_table(path, checked.output):
        kept.append(Found("differs"))
    own = tuple(one for one in made if one not in judged)
    return Checked(
        "file",
        str(path),
        tuple(dict.fromkeys((*own, "differs", *checked.made))),
        (*findings(kept, rules), *checked.findings),
        rules,
        name=name,
        command=about.call,
    )


def _looked_at(path: Path, said: Said, rules: Profile) -> tuple[tuple[str, ...], list[Found]]:
    """The checks that were made of a file, and what they found."""
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return _MADE, [Found("link")]
        if not stat.S_ISREG(status.st_mode):  # a folder that cannot be listed, a pipe, a device
            return _MADE, [Found("unread")]
        with path.open("rb") as file:
            suffix = suffix_of(path.name, file.read(64))
        found = _forbidden(path, suffix, rules)
        if status.st_size == 0:
            return _MADE, [*found, Found("unknown")]
        if status.st_size > _LARGE:
            return _MADE, [*found, Found("too_big")]
        made, more = _inside(path, suffix, said, rules)
    except OSError:
        return _MADE, [Found("unread")]
    return made, [*found, *more]


def _forbidden(path: Path, suffix: str, rules: Profile) -> list[Found]:
    forbidden = {name for one in rules.suffixes for name in names_of(one.lower())}
    known = {suffix, path.suffix.lower(), *names_of(suffix)}
    return [Found("forbidden", [(suffix,)])] if known & forbidden else []


def _inside(
    path: Path, suffix: str, said: Said, rules: Profile
) -> tuple[tuple[str, ...], list[Found]]:
    if suffix in TABLES:
        return (*_MADE, *_OF_TABLES), _table(path, said, rules)
    if suffix in WORKBOOKS:
        return (*_MADE, *_OF_TABLES, *_OF_WORKBOOKS), workbook(path, said, rules)
    if suffix in IMAGES:
        return (*_MADE, "embedded", "metadata"), image(path, suffix)
    if suffix in ARCHIVES:
        return (*_MADE, "archive"), archive(path, rules)
    if suffix in TEXTS:
        read, more = _READERS.get(suffix, (plain, ("prose",)))
        return (*_MADE, *_OF_TABLES, *more), _text(path, read, said, rules)
    return _MADE, [Found("unknown")]


def _text(
    path: Path, read: Callable[[str, Said, Profile], list[Found]], said: Said, rules: Profile
) -> list[Found]:
    if path.stat().st_size > _LONG:
        return [Found("too_big")]
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return [Found("unread")]
    return [Found("unread")] if "\0" in text else read(text, said, rules)


def _table(path: Path, said: Said, rules: Profile) -> list[Found]:
    try:
        table = to_arrow(path)[0]
    except (DiskretError, ValueError):
        return [Found("unread")]
    columns: dict[str, list[Any]] = table.to_pydict()
    return look(columns, said, rules)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
