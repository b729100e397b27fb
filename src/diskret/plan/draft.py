"""A publication file to complete: what is known already, and a place for every answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diskret.errors import JobError
from diskret.jobs.text_files import TextFile, write_files
from diskret.jobs.toml_text import key, plain, toml
from diskret.plan.options import PUBLICATION
from diskret.plan.paths import Seen
from diskret.plan.places import places
from diskret.plan.values import Plan, Question
from diskret.texts import Words, words_in


def draft(plan: Plan, folder: str | Path = "plan", *, language: str = "en") -> Path:
    r"""Write a publication file in which a person answers what is open.

    It names the template, the code trees and the records, and asks every open question where its
    answer belongs; the answers are comments until a person completes them.

    Parameters
    ----------
    plan
        Of a template; not of a publication file, which has a place for answers already.
    folder
        Gets ``publication.toml``, and ``plan.html``, a page that says what was found.
    language
        ``"en"`` or ``"de"``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    JobError
        There is such a file already, which somebody may have completed; or the plan is of a frame
        or of a publication file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import diskret as dk
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "tables.csv").write_text(
    ...     "table_name,indicator,spanning_1\nT1,turnover,size\n", encoding="utf-8"
    ... )
    >>> path = dk.plan.draft(dk.plan.read(folder / "tables.csv"), folder)
    >>> print(path.read_text(encoding="utf-8"))
    # What is published, and what only a person can tell. Answer what is asked here, remove the #
    # before the answer, and plan it: diskret plan publication.toml
    <BLANKLINE>
    template = "tables.csv"
    <BLANKLINE>
    # Where are the records that the tables are made of?
    # [records]
    # path = "..."
    <BLANKLINE>
    # What makes a cell unsafe? Say the rules of the office.
    # [rules]
    # p_percent = { p = 10 }   # an example
    <BLANKLINE>
    """
    if plan.template is None:
        raise JobError(
            "only the plan of a template in a file or folder is drafted; answers to a publication "
            "file are written into it"
        )
    path = Path(folder) / PUBLICATION
    if path.exists():
        raise JobError(
            f"{path} is there already; complete it and plan it, or remove it to begin again"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_files(
        [TextFile(path, _text(plan, path.parent, words_in(language, "plan")), internal=True)]
    )
    return path


def _text(plan: Plan, folder: Path, words: Words) -> str:
    seen = Seen(Path.cwd(), folder)
    template = "" if plan.template is None else seen.path(plan.template)
    questions = [(*_parted(one.answer), one) for one in plan.questions]
    lines = [
        *(f"# {line}" for line in words.said("draft", file=PUBLICATION).splitlines()),
        "",
        f"template = {toml(template)}",
        "",
    ]
    known = {
        "hierarchies": {name: seen.tree(f) for name, f in plan.answers.hierarchies.items()},
        "records": seen.value("records", dict(plan.answers.sections.get("records", {}))),
    }
    variables = {
        f"variables.{key(name)}": {"hierarchy": list(one.hierarchies)}
        for name, one in plan.answers.variables.items()
    }
    for head in dict.fromkeys(["", *known, *variables, *(head for head, _, _ in questions)]):
        said = {**known, **variables}.get(head, {})
        asked = [(body, one) for own, body, one in questions if own == head]
        lines += [f"[{head}]"] if said else []
        lines += [f"{key(name)} = {toml(value)}" for name, value in said.items()]
        for number, (body, one) in enumerate(asked):
            lines += [""] if said or number else []
            lines += _asked(plan, one, words)
            lines += [f"# [{head}]"] if head and not said and not number else []
            lines += [f"# {line}" for line in body]
        lines += [""] if said or asked else []
    return "\n".join(lines)


def _asked(plan: Plan, question: Question, words: Words) -> list[str]:
    """The question as a comment, with its lines."""
    where = places(plan.asked, question.lines, words)
    said = plain(question.said.in_language(words.language))
    return [f"# {said} ({where})" if where else f"# {said}"]


def _parted(answer: str) -> tuple[str, Sequence[str]]:
    """The section that an answer stands in, "" for the head of the file; and its lines."""
    first, *others = answer.splitlines() or [""]
    if first.startswith("["):
        return first.strip("[]"), others
    return "", [line for line in [first, *others] if line]
