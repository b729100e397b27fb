"""The tables of equivalents in docs/from say what is there: names, parameters, words, commands."""

import ast
import inspect
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from test_docs import FENCE
from typer.main import get_command

import diskret
from diskret.cli.main import app
from diskret.parameters import parameters

FOLDER = Path(__file__).parent.parent / "docs" / "from"
PAGES = sorted(FOLDER.glob("*.md"))
VERDICTS = {"same", "better", "different", "not offered"}
HEAD = ["What it does", "Here", "Verdict", "What differs, or why not"]

#: What a name in a table stands for, ``dk`` besides.
OBJECTS = {
    "table": "tables.Table",
    "result": "protect.result.Result",
    "changed": "protect.perturbed_result.PerturbedResult",
    "published": "tables.Published",
    "tree": "hierarchy.Hierarchy",
    "ptable": "cellkey.PerturbationTable",
    "lookup": "cellkey.Lookup",
    "ledger": "ledger.ledger.Ledger",
    "md": "anonymize.data.Microdata",
    "released": "anonymize.result.MicrodataResult",
    "risk": "anonymize.risk.MicrodataRisk",
    "numeric_risk": "anonymize.numeric_risk.NumericRisk",
    "anonymity": "anonymize.anonymity.Anonymity",
    "suda": "anonymize.suda.Suda",
    "uniques": "anonymize.population_uniques.PopulationUniques",
    "step": "anonymize.verb.Step",
    "report": "protect.audit.AuditReport",
    "comparison": "utility.Comparison",
    "records_comparison": "utility.RecordsComparison",
}
#: Parameters that are a plain string, with the words that they take.
WORDS = {("suppress", "method"): ("protect.suppress", "METHODS")}


@dataclass(frozen=True)
class Row:
    """A row of a table of equivalents, with the line it stands on."""

    line: int
    theirs: str
    here: str
    verdict: str
    difference: str


def rows(page: Path) -> Iterator[Row]:
    """The rows of all tables of a page that have the columns of a table of equivalents."""
    text = FENCE.sub(lambda found: "\n" * found[0].count("\n"), page.read_text("utf-8"))
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            inside = False
        elif cells[1:] == HEAD:
            inside = True
        elif inside and not line.startswith("|---"):
            assert len(cells) == 5, f"{page.name}:{number}: {len(cells)} columns"
            yield Row(number, cells[0], *cells[2:])


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def wrong(code: str) -> str | None:
    """What is not there of a span of code; None where all of it is, or it names nothing."""
    if code.startswith("diskret "):
        return wrong_command(shlex.split(code)[1:])
    try:
        tree = ast.parse(code, mode="eval")
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        try:
            if isinstance(node, ast.Attribute):
                meaning(node)
            elif isinstance(node, ast.Call):
                called(node)
        except (AttributeError, LookupError, ValueError) as error:
            return f"{code}: {error}"
    return None


def meaning(node: ast.expr) -> object:
    """What a dotted name stands for; None where its beginning is nothing of ours."""
    if isinstance(node, ast.Name):
        if node.id == "dk":
            return diskret
        if node.id in OBJECTS:
            module, _, name = OBJECTS[node.id].rpartition(".")
            return getattr(import_module(f"diskret.{module}"), name)
        return None
    if isinstance(node, ast.Attribute):
        owner = meaning(node.value)
        return None if owner is None else member(owner, node.attr)
    if isinstance(node, ast.Subscript):  # one measure of a table is a table
        return meaning(node.value)
    if isinstance(node, ast.Call):
        return made_by(meaning(node.func))
    return None


def made_by(target: object) -> object:
    """What a call gives, as far as it is told."""
    if target is None or inspect.isclass(target):
        return target
    said = inspect.signature(target).return_annotation  # type: ignore[arg-type]
    if said == "Microdata":
        return diskret.Microdata
    raise LookupError(f"what {target} gives is not told here; name it, e.g. result.public")


def member(owner: object, name: str) -> object:
    """An attribute, also one that only instances have."""
    if inspect.isclass(owner) and name in inspect.get_annotations(owner):
        return None
    try:
        return getattr(owner, name)
    except AttributeError:
        raise AttributeError(f"there is no {name} in {owner}") from None


def called(node: ast.Call) -> None:
    """Whether a function takes the arguments that a call gives by name, and their values."""
    target = meaning(node.func)
    if target is None:
        return
    if not callable(target):
        raise LookupError(f"{target} is no function")
    known = inspect.signature(target).parameters
    options = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    for keyword in node.keywords:
        if keyword.arg and keyword.arg not in known and not options:
            raise LookupError(f"{keyword.arg}= is not taken")
        if isinstance(keyword.value, ast.Constant):
            checked(target, str(keyword.arg), keyword.value.value)


def checked(target: object, name: str, value: object) -> None:
    place = WORDS.get((getattr(target, "__name__", ""), name))
    if place is not None:
        words = getattr(import_module(f"diskret.{place[0]}"), place[1])
        if value not in words:
            raise LookupError(f"{name}={value!r} is none of {[*words]}")
        return
    try:
        declared = parameters(target)  # type: ignore[arg-type]
    except (TypeError, NameError):
        return
    if name in declared:
        try:
            declared[name].read(value)
        except ValueError:
            raise LookupError(f"{name}= must be {declared[name].said}, not {value!r}") from None


def wrong_command(words: list[str]) -> str | None:
    command: Any = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if hasattr(command, "commands"):
        return f"there is no command diskret {' '.join(words)}"
    options = {option for one in command.params for option in one.opts} | {"--help"}
    unknown = [word for word in words if word.startswith("--") and word not in options]
    return f"diskret {command.name} does not know {unknown}" if unknown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_name_only_what_is_there(page):
    found = [
        f"{page.name}:{row.line}: {error}"
        for row in rows(page)
        for code in spans(row.here) + spans(row.difference)
        if (error := wrong(code))
    ]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_row_says_what_how_and_why(page):
    for row in rows(page):
        where = f"{page.name}:{row.line}"
        assert row.theirs, where
        assert row.verdict in VERDICTS, where
        if row.verdict == "not offered":
            assert row.here == "–" and row.difference, where
        else:
            assert spans(row.here), where
        if row.verdict in ("better", "different"):
            assert row.difference, where


def test_every_page_but_the_first_has_tables_and_an_example():
    assert PAGES
    for page in PAGES:
        if page.name != "index.md":
            assert len([*rows(page)]) >= 5, page.name
            assert "```python" in page.read_text("utf-8"), page.name


@pytest.mark.parametrize(
    "code",
    [
        "dk.supress(table, rule)",
        "dk.rules.PPercentage(10)",
        "dk.suppress(table, rule, solver='HiGHS')",
        "dk.suppress(table, rule, method='hitas')",
        "dk.round_table(table, 3, method='pls')",
        "md.local_supression(k=3)",
        "md.microaggregate(method='mda')",
        "table.cell",
        "table[measure].cell",
        "dk.Hierarchy.from_prefix(codes, width=[1])",
        "diskret audit file.csv --verbose",
        "diskret tabulate",
    ],
)
def test_what_is_not_there_is_found(code):
    assert wrong(code)


@pytest.mark.parametrize(
    "code",
    [
        "dk.suppress(table, rule, method='optimal', time_limit=60)",
        "dk.rules.PPercent(10)",
        "md.release([dk.claims.KAnonymity(3)], name='persons')",
        "table.measures",
        "P(p, n)",
        "alpha=1",
        "diskret verify folder",
    ],
)
def test_what_is_there_is_not_found_missing(code):
    assert wrong(code) is None
