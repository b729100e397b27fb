"""What the package offers is offered everywhere: jobs, templates, reports, reference, glossary.

Everything is found by walking the code, so that whoever adds a rule, a verb, a claim, a method or a
format is told where it is missing.
"""

import ast
import inspect
import pkgutil
import re
import string
from importlib import import_module
from pathlib import Path

import pytest

import diskret
from diskret import Microdata, claims, rules
from diskret.attack.microdata import claims as claims_module
from diskret.report.texts import rule_name
from diskret.workflow import job_rules, job_template
from diskret.workflow.microdata import job_template as microdata_template
from diskret.workflow.microdata.replay import VERBS
from diskret.workflow.suppress import METHODS
from diskret.workflow.write import FORMATS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = "\n".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
GLOSSARY = (DOCS / "glossary.md").read_text("utf-8")
JOB_FILE = (DOCS / "job-file.md").read_text("utf-8")

#: What a rule says about cells, or joins rules; a job says it with keys of the table.
NO_SECTION = {"AnyOf", "NoRule", "Rule", "Sensitivity", "Shadow"}
#: Says "safe" only, so no cell is reported unsafe by it.
NEVER_UNSAFE = {"MissingSafe"}


def key(name: str) -> str:
    """`MinimumFrequency` → ``minimum_frequency``, as job files write it."""
    return "pq" if name == "PQ" else re.sub(r"(?<=\w)(?=[A-Z])", "_", name).lower()


def is_rule(value: object) -> bool:
    return inspect.isclass(value) and "__call__" in vars(value)


#: Those of every module of the folder, exported or not.
RULES = sorted(
    {
        name
        for module in pkgutil.iter_modules(rules.__path__)
        for name, value in vars(import_module(f"diskret.rules.{module.name}")).items()
        if is_rule(value) and value.__module__.startswith("diskret.rules.")
    }
)
CLAIMS = sorted(
    name
    for name, value in vars(claims_module).items()
    if inspect.isclass(value) and value.__module__ == claims.__name__ and not name.startswith("_")
)


def test_something_was_found():
    assert {*RULES} - {"AnyOf", "NoRule"} <= {*vars(rules)}
    assert {"PPercent", "Dominance", "Apriori"} <= {*RULES}
    assert {"KAnonymity", "Safe"} <= {*CLAIMS}


@pytest.mark.parametrize("name", [name for name in RULES if name not in NO_SECTION])
def test_a_rule_is_known_to_jobs_reports_and_documents(name):
    assert f'"{key(name)}": _' in inspect.getsource(job_rules.read_rule)
    assert re.search(
        rf"^#?{key(name)} = \{{|^#\[tables.rules.{key(name)}\]",
        inspect.getsource(job_template),
        re.MULTILINE,
    )
    assert f"`{key(name)}`" in JOB_FILE
    assert f"::: diskret.rules.{name}\n" in REFERENCE
    assert f"`{name}(" in GLOSSARY
    if name not in NEVER_UNSAFE:
        reason = "zero" if name == "ZeroCells" else key(name)
        assert rule_name(reason, "en") != rule_name(reason, "de")


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_method_is_known_to_job_and_documents(name):
    assert f"`{name}`" in JOB_FILE
    assert f'``"{name}"``' in (inspect.getdoc(diskret.suppress) or "")
    assert re.search(rf"\b{name}\b", REFERENCE + GLOSSARY)


@pytest.mark.parametrize("name", sorted(VERBS))
def test_a_verb_of_microdata_is_known_to_jobs_and_documents(name):
    assert callable(getattr(Microdata, name))
    assert f'do = "{name}"' in microdata_template.template()
    assert re.search(rf"::: diskret\.workflow\.microdata\.\w+\.{name}\n", REFERENCE)


def test_every_method_of_microdata_that_makes_microdata_is_a_verb_of_jobs():
    made = {
        name
        for name, value in inspect.getmembers(Microdata, inspect.isfunction)
        if not name.startswith("_") and inspect.signature(value).return_annotation == "Microdata"
    }
    assert made - {*VERBS} - {"linked", "before", "replay"} == set()


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_known_to_the_reference(name):
    assert f"::: diskret.attack.microdata.claims.{name}\n" in REFERENCE


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_known_to_the_job_file(name):
    assert f"`{name}`" in JOB_FILE


# ── every German text has an English twin ───────────────────────────────────────────────


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def pairs() -> list:
    """The texts that stand in both languages in the code: dictionaries and sentences."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            where = f"{path.name}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Dict):
                keys = [k.value if isinstance(k, ast.Constant) else None for k in node.keys]
                if "en" in keys and "de" in keys:
                    en, de = (node.values[keys.index(language)] for language in ("en", "de"))
                    found.append(pytest.param(en, de, id=where))
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "Statement",
                "Statement.of",
            ):
                if len(node.args) >= 2:
                    found.append(pytest.param(*node.args[:2], id=where))
    return found


@pytest.mark.parametrize(("en", "de"), pairs())
def test_german_and_english_texts_have_the_same_blanks(en, de):
    try:
        english, german = ast.literal_eval(en), ast.literal_eval(de)
    except ValueError:  # put together when it runs
        return
    assert shape(english) == shape(german)


def shape(text: object) -> object:
    """Keys, and the blanks of the texts below them."""
    if isinstance(text, dict):
        return {name: shape(below) for name, below in text.items()}
    if isinstance(text, tuple | list):
        return [shape(part) for part in text]
    return blanks(text) if isinstance(text, str) else text
