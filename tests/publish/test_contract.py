"""What leaves is a value without secrets: no table, no record, no key, no level within reach."""

from dataclasses import fields, is_dataclass, replace
from importlib import import_module

import numpy as np
import pytest
from every_family import FAMILIES, KEYS, counts

import diskret as dk
from diskret.anonymize import write as microdata
from diskret.publish.contract import Release
from diskret.publish.write import write_releases
from diskret.tables import Earlier, Requirements

SECRETS = (dk.Table, dk.Result, dk.PerturbedResult, dk.Microdata, dk.MicrodataResult,
           dk.SecretKeys, Earlier, Requirements)  # fmt: skip
#: These stand behind functions, which are given the office's folder or the ledger's connection.
OPAQUE = {"page", "internal", "memory"}


def within(value, seen=None):
    """Everything that can be reached from a value without calling anything."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    if is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, dict):
        parts = [*value, *value.values()]
    else:
        parts = value if isinstance(value, (list, tuple, set, frozenset)) else ()
    for part in parts:
        yield from within(part, seen)


def secrets(release: Release) -> list[str]:
    open_parts = [f.name for f in fields(Release) if f.name not in OPAQUE]
    return [
        f"{name}: {type(part).__name__}"
        for name in open_parts
        for part in within(getattr(release, name))
        if isinstance(part, SECRETS)
    ]


@pytest.fixture
def releases(monkeypatch):
    found = []

    def kept(given, *arguments, **options):
        found.extend(given)
        return write_releases(given, *arguments, **options)

    for module in (import_module("diskret.protect.write"), microdata):
        monkeypatch.setattr(module, "write_releases", kept)
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_no_secret_is_within_reach(family, releases, tmp_path):
    FAMILIES[family](tmp_path / "out")
    assert releases
    for release in releases:
        assert secrets(release) == []
        assert repr(release) == f"Release({release.name!r})"


def test_a_secret_within_reach_is_found():
    result = dk.suppress(counts(), dk.rules.MinimumFrequency(3), name="firms")
    release = result.release(KEYS)
    assert secrets(release) == []
    told = replace(release, certificate={**release.certificate, "more": [{"of": result.table}]})
    assert secrets(told) == ["certificate: Table"]


def test_hidden_values_are_not_in_what_is_public():
    result = dk.suppress(counts(), dk.rules.MinimumFrequency(3), name="firms")
    public = result.release(KEYS).public
    assert isinstance(public, dk.Published)
    hidden = public.suppressed
    assert hidden.any()
    assert not np.any(public.value[hidden])
