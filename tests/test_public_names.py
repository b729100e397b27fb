"""The names users rely on: none is lost, none appears by accident."""

from importlib import import_module
from pathlib import Path

import pytest

import diskret

PUBLIC = [
    "Attacker",
    "DataFile",
    "DiskretError",
    "Hierarchy",
    "Ledger",
    "Lookup",
    "MagnitudeNoise",
    "Microdata",
    "MicrodataResult",
    "PerturbationTable",
    "Perturbed",
    "PerturbedResult",
    "PostgresTable",
    "Published",
    "Result",
    "SecretKeys",
    "Sensitivity",
    "Table",
    "__version__",
    "adjust",
    "argus",
    "assess",
    "attack",
    "audit",
    "check",
    "cite",
    "claims",
    "connect",
    "datasets",
    "derive",
    "draw_intervals",
    "draw_map",
    "draw_table",
    "draw_tree",
    "key_risk",
    "make_additive",
    "map_page",
    "perturb",
    "perturb_invariant",
    "perturb_records",
    "perturbation_sql",
    "plan",
    "record_keys",
    "remote",
    "risk",
    "round_table",
    "rules",
    "run_job",
    "serve",
    "sign",
    "spatial",
    "suppress",
    "tables_up_to",
    "tabulate",
    "utility",
    "verify",
    "write",
    "write_perturbed_records",
]

PROMISED = {
    "argus": {"ArgusRun", "ArgusTable", "run", "to_job", "write_job"},
    "attack": {"Attacker", "SuppressionCertificate", "disclosures", "intervals"},
    "claims": {
        "AlphaK",
        "BetaLikeness",
        "DeltaDisclosure",
        "ExpectedBelow",
        "KAnonymity",
        "KMap",
        "LDiversity",
        "NoIdentifiers",
        "RiskBelow",
        "Safe",
        "TCloseness",
    },
    "datasets": {"business_register"},
    "rules": {
        "PQ",
        "Apriori",
        "Dominance",
        "GroupDisclosure",
        "MarginalValue",
        "MinimumFrequency",
        "MissingSafe",
        "PPercent",
        "Rule",
        "Sensitivity",
        "ZeroCells",
    },
    "utility": {"Comparison", "compare"},
}

FOLDERS = sorted(
    path.parent.name for path in Path(diskret.__file__).parent.glob("[a-z]*/__init__.py")
)


def test_public_names_are_exactly_these():
    assert diskret.__all__ == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_resolves(name):
    assert getattr(diskret, name) is not None


@pytest.mark.parametrize("folder", PROMISED)
def test_submodule_keeps_its_promises(folder):
    assert PROMISED[folder] <= set(getattr(diskret, folder).__all__)


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_lists_what_it_offers(folder):
    module = import_module(f"diskret.{folder}")
    names = getattr(module, "__all__", [])
    assert names == sorted(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        diskret.no_such_name  # noqa: B018
