"""A plan without open questions as files: a programme, its job, the trees that were cut."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from diskret.errors import JobError
from diskret.jobs.programme_file import read_programme
from diskret.jobs.text_files import TextFile, write_files
from diskret.plan.options import PUBLICATION
from diskret.plan.page import PAGE, plan_page
from diskret.plan.programme import MADE, PROGRAMME, programme_files
from diskret.plan.values import Plan


def write(plan: Plan, folder: str | Path = "plan", *, language: str = "en") -> tuple[Path, ...]:
    r"""Write a plan as a programme that ``diskret protect`` carries out as it is.

    All files are written, or none. All are for the office only: the job holds the parameters of
    the rules.

    Parameters
    ----------
    plan
        In which no question is open.
    folder
        Gets ``programme.toml``, its job ``release.toml``, code trees, and ``plan.html``, which says
        what hangs together and why. What an earlier plan wrote there is replaced.
    language
        Of the page: ``"en"`` or ``"de"``.

    Returns
    -------
    tuple of Path
        What was written: the programme first.

    Raises
    ------
    JobError
        A question is open; the records contradict the code trees; a file in the folder is none
        of an earlier plan.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import diskret as dk
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "firms.csv").write_text("size,sales\ns,9\ns,8\nl,90\n", encoding="utf-8")
    >>> _ = (folder / "publication.toml").write_text('''
    ... [[tables]]
    ... name = "T1"
    ... indicator = "sales"
    ... by = ["size"]
    ... [variables.size]
    ... flat = true
    ... [records]
    ... path = "firms.csv"
    ... [rules]
    ... minimum_frequency = { n = 2 }
    ... ''', encoding="utf-8")
    >>> plan = dk.plan.read(folder / "publication.toml")
    >>> [path.name for path in dk.plan.write(plan, folder / "plan")]
    ['programme.toml', 'release.toml', 'plan.html']
    """
    if plan.questions:
        raise JobError(
            f"questions are open that only a person can answer ({len(plan.questions)}): "
            "diskret plan and plan.questions list them; answer them in a publication file"
        )
    folder = Path(folder)
    files = {**programme_files(plan, folder), PAGE: plan_page(plan, language)}
    _check_free(folder, list(files))
    _check_runs(plan, folder, files)
    folder.mkdir(parents=True, exist_ok=True)
    outputs = _in(folder, files)
    write_files(outputs)
    return tuple(output.path for output in outputs)


def _in(folder: Path, files: Mapping[str, str]) -> list[TextFile]:
    return [TextFile(folder / name, text, internal=True) for name, text in files.items()]


def _check_runs(plan: Plan, folder: Path, files: Mapping[str, str]) -> None:
    """The programme can be read: what was copied into it is what a job may say."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # beside the folder, where paths that are seen from it lead to the same files
    with TemporaryDirectory(dir=folder.parent, prefix=".plan-") as room:
        write_files(
            [TextFile(Path(room) / name, text, internal=True) for name, text in files.items()]
        )
        try:
            read_programme(Path(room) / PROGRAMME)
        except JobError as error:
            said = str(error).replace(f"{room}{os.sep}", "")
            path = plan.answers.path or PUBLICATION
            raise JobError(
                f"{path}: the programme that is made of it would not run, so nothing was "
                f"written; correct what it says of this: {said}"
            ) from error


def _check_free(folder: Path, names: list[str]) -> None:
    """Only what an earlier plan has written is replaced."""
    programme = folder / PROGRAMME
    if programme.exists():
        others = not programme.read_text(encoding="utf-8", errors="replace").startswith(MADE)
        taken = PROGRAMME if others else None
    else:
        taken = next((name for name in names if (folder / name).exists()), None)
    if taken is not None:
        raise JobError(
            f"{folder / taken} is there already and is none of an earlier plan; choose another "
            "folder"
        )
