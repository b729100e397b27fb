"""What the package offers is offered everywhere: jobs, templates, reports, reference, glossary.

Everything is found by walking the code, so whoever adds a rule, a verb, a claim, a method, a
figure, an engine or a format is told all the places where it is missing. Tried with made-up ones.
"""

import ast
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest
from source import TOGETHER, nodes, trees

import diskret
from diskret import Microdata, engines, rules
from diskret.anonymize import verb
from diskret.anonymize import write as microdata_write
from diskret.attack import microdata
from diskret.attack.microdata import claims as claims_module
from diskret.jobs import microdata as microdata_job
from diskret.jobs import (
    noise as job_noise,
)
from diskret.jobs import (
    read as job,
)
from diskret.jobs import (
    template as job_template,
)
from diskret.jobs import (
    values as job_values,
)
from diskret.jobs.values import TableJob
from diskret.parameters import Choice, parameters
from diskret.protect import derive
from diskret.publish.formats.symbols import symbol_sets
from diskret.publish.pages.internal import rule_name
from diskret.tables import derived
from diskret.texts import LANGUAGES, words_in

# the functions of these names hide the modules
suppress, round_table, write = (
    import_module(f"diskret.protect.{name}") for name in ("suppress", "round_table", "write")
)

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = "\n".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
GLOSSARY = (DOCS / "glossary.md").read_text("utf-8")
JOB_FILE = (DOCS / "job-file.md").read_text("utf-8")
SUPPRESS, WRITE = (inspect.getdoc(verb) or "" for verb in (diskret.suppress, diskret.Result.write))
CONTRACT = (ROOT / "tests" / "engines" / "test_engine_contract.py").read_text("utf-8")

#: What a rule says about cells, or joins rules; a job says it with keys of the table.
NO_SECTION = {"AnyOf", "NoRule", "Rule", "Sensitivity", "Shadow"}
#: Says "safe" only, or what rules inside of it say, so no cell is reported unsafe by it.
NEVER_UNSAFE = {"MissingSafe", "Varying"}


def key(name: str) -> str:
    """`MinimumFrequency` → ``minimum_frequency``, as job files write it."""
    return "pq" if name == "PQ" else re.sub(r"(?<=\w)(?=[A-Z])", "_", name).lower()


# ── what there is ───────────────────────────────────────────────────────────────────


def modules(package) -> list:
    """The modules of a folder."""
    return [
        import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    ]


def rules_there() -> set[str]:
    """Callable values of every module of the folder, exported or not."""
    return {
        name
        for module in modules(rules)
        for name, value in vars(module).items()
        if inspect.isclass(value) and "__call__" in vars(value)
        if value.__module__.startswith("diskret.rules.") and not name.startswith("_")
    } - NO_SECTION


def claims_there() -> set[str]:
    return {
        name
        for name, value in vars(claims_module).items()
        if inspect.isclass(value) and value.__module__ == claims_module.__name__
        if not name.startswith("_")
    }


def verbs_there() -> set[str]:
    """Methods of microdata that make microdata, and what jobs call verbs."""
    made = {
        name
        for name, value in inspect.getmembers(Microdata, inspect.isfunction)
        if not name.startswith("_") and inspect.signature(value).return_annotation == "Microdata"
    }
    return (made | {*verb.VERBS}) - {"linked", "before", "replay"}


def engines_there() -> set[str]:
    """Modules that define an engine, ``duckdb`` for `DuckDBEngine`."""
    return {
        module.__name__.rpartition(".")[2]
        for module in modules(engines)
        for name, value in vars(module).items()
        if inspect.isclass(value) and name.endswith("Engine") and name != "Engine"
        if value.__module__ == module.__name__
    }


# ── where it must be ────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Kind:
    """Things of one kind: how they are found, and place → whether one of them is known there."""

    there: Callable[[], Iterable[str]]
    places: dict[str, Callable[[str], object]]


def job_methods() -> tuple[str, ...]:
    """The methods of suppression that job files know."""
    [choice] = parameters(TableJob)["method"].kinds
    assert isinstance(choice, Choice)
    return choice.words


def in_template(pattern: str) -> Callable[[str], object]:
    return lambda name: re.search(
        pattern.format(name=name, key=key(name)), job_template.template(), re.MULTILINE
    )


def told_in_two_languages(name: str) -> bool:
    reason = "zero" if name == "ZeroCells" else key(name)
    english, german = (rule_name(reason, words_in(one, "report")) for one in LANGUAGES)
    return name in NEVER_UNSAFE or english != german


def family_in_two_languages(name: str) -> bool:
    if name in ("drop", "remove_identifiers"):  # the column is not there
        return True
    use = f"use {verb.VERBS.get(name, (None, None))[1]}"
    words = [words_in(language, "microdata_report").get(use) for language in LANGUAGES]
    return len(words) > 1 and None not in words and len({*words}) == len(words)


def has_sentence(name: str) -> bool:
    """Whether a module that makes the certificate's sentences treats the claim by name."""
    sources = (inspect.getsource(module) for module in modules(microdata))
    return any("sentence(" in text and re.search(rf"\b{name}\b", text) for text in sources)


KINDS = {
    "rule": Kind(
        rules_there,
        {
            "job file": lambda name: key(name) in rules.BY_NAME,
            "template": in_template(r"^#?{key} = \{{|^#\[tables.rules.{key}\]"),
            "docs/job-file.md": lambda name: f"`{key(name)}`" in JOB_FILE,
            "report, both languages": told_in_two_languages,
            "reference": lambda name: f"::: diskret.rules.{name}\n" in REFERENCE,
            "glossary": lambda name: f"`{name}(" in GLOSSARY,
        },
    ),
    "method of suppression": Kind(
        lambda: suppress.METHODS,
        {
            "job file": lambda name: name in job_methods(),
            "template": in_template(r"^#method = .*\b{name}\b"),
            "docs/job-file.md": lambda name: f"`{name}`" in JOB_FILE,
            "docstring": lambda name: f'``"{name}"``' in SUPPRESS,
            "reference, glossary": lambda name: re.search(rf"\b{name}\b", REFERENCE + GLOSSARY),
        },
    ),
    "method of noise": Kind(
        lambda: {*job_noise.METHODS, *get_args(round_table.Rounding)},
        {
            "job file": lambda name: name in job_noise.METHODS,
            "template": in_template(r"^##method = .*\b{name}\b"),
            "docs/job-file.md": lambda name: f"`{name}`" in JOB_FILE,
            "reference, glossary": lambda name: re.search(
                rf'\b{name.replace("_", "[ _]")}\b|"{name}"', REFERENCE + GLOSSARY
            ),
        },
    ),
    "verb of microdata": Kind(
        verbs_there,
        {
            "job file, history": lambda name: name in verb.VERBS,
            "method": lambda name: callable(getattr(Microdata, name, None)),
            "template": lambda name: f'do = "{name}"' in job_template.template("anonymize"),
            "report, both languages": family_in_two_languages,
            "reference": lambda name: re.search(
                rf"::: diskret\.anonymize\.\w+\.{name}\n", REFERENCE
            ),
            "glossary": lambda name: re.search(rf"`(Microdata\.)?{name}`", GLOSSARY),
        },
    ),
    "claim": Kind(
        claims_there,
        {
            "job file": lambda name: key(name) in microdata_job.claim_names(),
            "template": lambda name: re.search(
                rf"^#?{key(name)} = ", job_template.template("anonymize"), re.MULTILINE
            ),
            "certificate": has_sentence,
            "reference": lambda name: f"::: diskret.attack.microdata.claims.{name}\n" in REFERENCE,
            "glossary": lambda name: re.search(rf"`(claims\.)?{name}`", GLOSSARY),
        },
    ),
    "derived figure": Kind(
        lambda: derived.KINDS,
        {
            "verb": lambda name: callable(getattr(derive, name, None)),
            "job file": lambda name: name in job_values.KINDS,
            "template": in_template(r"^#kind = .*\b{name}\b"),
            "docs/job-file.md": lambda name: f"`{name}`" in JOB_FILE,
            # the page shows all functions of the module
            "reference": lambda name: (
                "::: diskret.protect.derive\n" in REFERENCE
                and (inspect.getdoc(getattr(derive, name, None)) if hasattr(derive, name) else "")
            ),
        },
    ),
    "engine": Kind(
        engines_there,
        {
            "job file": lambda name: name in job._ENGINES or f"{name}ql://" in JOB_FILE,
            "template": in_template(r"(?i)\b{name}"),
            "docs/job-file.md": lambda name: re.search(rf"(?i)\b{name}", JOB_FILE),
            "reference": lambda name: re.search(rf"(?i)\b{name}", REFERENCE),
            "contract test": lambda name: f'"{name}": ' in CONTRACT,
        },
    ),
    "format": Kind(
        lambda: {*write.FORMATS, *microdata_write.FORMATS},
        {
            "job file": lambda name: name in job.FORMATS,
            "template": in_template(r"^#formats = .*\b{name}\b"),
            "docs/job-file.md": lambda name: f"`{name}`" in JOB_FILE,
            "docstring": lambda name: f'``"{name}"``' in WRITE,
        },
    ),
    "symbol set": Kind(
        symbol_sets,
        {
            "template": in_template(r"^#symbols = .*{name}"),
            "docs/job-file.md": lambda name: f"`{name}`" in JOB_FILE,
        },
    ),
}


def missing(kind: Kind, name: str) -> list[str]:
    """The places that do not know something."""
    return [place for place, knows in kind.places.items() if not knows(name)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_there_is_known_everywhere(kind):
    gaps = {name: missing(KINDS[kind], name) for name in sorted(KINDS[kind].there())}
    assert gaps, "nothing of this kind was found"
    assert not {name: places for name, places in gaps.items() if places}


@pytest.mark.parametrize("kind", KINDS)
def test_something_new_is_missing_everywhere(kind):
    assert missing(KINDS[kind], "BrandNew") == [*KINDS[kind].places]


def brand_new(monkeypatch, module, **members):
    """A class that a module defines."""
    made = type("BrandNew", (), {"__module__": module.__name__, **members})
    monkeypatch.setattr(module, "BrandNew", made, raising=False)


def new_rule(monkeypatch):
    brand_new(monkeypatch, import_module("diskret.rules.p_percent"), __call__=lambda self, t: t)


def new_claim(monkeypatch):
    brand_new(monkeypatch, claims_module)


def new_engine(monkeypatch):
    engine = import_module("diskret.engines.contract")
    made = type("MarksEngine", (), {"__module__": engine.__name__})
    monkeypatch.setattr(engine, "MarksEngine", made, raising=False)


def new_verb(monkeypatch):
    def brand_new(md: "Microdata") -> "Microdata":
        return md

    brand_new.__annotations__["return"] = "Microdata"
    monkeypatch.setattr(Microdata, "BrandNew", brand_new, raising=False)


@pytest.mark.parametrize(
    ("kind", "add", "name"),
    [
        ("rule", new_rule, "BrandNew"),
        ("claim", new_claim, "BrandNew"),
        ("engine", new_engine, "contract"),
        ("verb of microdata", new_verb, "BrandNew"),
    ],
)
def test_something_new_is_found_by_walking(monkeypatch, kind, add, name):
    assert name not in KINDS[kind].there()
    add(monkeypatch)
    assert name in KINDS[kind].there()
    assert missing(KINDS[kind], name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (suppress.METHODS, job_methods()),
        (write.FORMATS, job.FORMATS),
        (get_args(round_table.Rounding), job_noise.ROUNDING),
    ],
)
def test_jobs_offer_what_verbs_offer_and_nothing_else(one, other):
    assert {*one} == {*other}


# ── texts stand in catalogues ───────────────────────────────────────────────────────────


@TOGETHER
def test_no_text_stands_in_two_languages_in_the_code():
    """`tests/texts` compares the catalogues; a pair in the code would be missed."""
    found = []
    for path, tree in trees().items():
        for node in nodes(tree):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                said = {k.value: holds_text(v) for k, v in pairs if isinstance(k, ast.Constant)}
                if said.get("en") and said.get("de"):
                    found.append(f"{path.name}:{node.lineno}")
    assert found == []


def holds_text(node: ast.expr) -> bool:
    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return any(isinstance(value, str) for value in constants)
