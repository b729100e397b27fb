"""`cite` names the source of every method, and there is one place where each stands."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

import diskret as dk
from diskret import rules
from diskret.anonymize.verb import VERBS
from diskret.citation import SOFTWARE, references
from diskret.errors import InputError
from diskret.microdata.aggregation import METHODS as GROUPINGS
from diskret.protect.suppress import METHODS

ROOT = Path(__file__).parent.parent
#: Joined rules, and what an office states itself.
OWN_RULES = {"BY_NAME", "NoRule", "Request", "Rule", "Sensitivity", "Varying"}
#: Chooses among others; removes what somebody names; takes its method as an argument.
OWN_VERBS = {"drop", "remove_identifiers", "top_code_together", "microaggregate"}
OWN_GROUPINGS = {"clustered_projection", "projection", "random", "random_nearest"}


@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"auto"}))
def test_methods_of_suppression_have_a_source(method):
    assert len(dk.cite(f"suppression.{method}")) > 1


@pytest.mark.parametrize("rule", sorted({*rules.__all__} - OWN_RULES))
def test_rules_have_a_source(rule):
    assert len(dk.cite(getattr(rules, rule))) > 1


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - OWN_VERBS))
def test_verbs_on_microdata_have_a_source(verb):
    assert len(dk.cite(f"anonymize.{verb}")) > 1
    assert dk.cite(getattr(dk.Microdata, verb)) == dk.cite(f"anonymize.{verb}")


@pytest.mark.parametrize(
    "verb",
    [dk.adjust, dk.key_risk, dk.make_additive, dk.perturb, dk.perturb_invariant, dk.round_table],
)
def test_verbs_that_change_tables_have_a_source(verb):
    assert len(dk.cite(verb)) > 1


@pytest.mark.parametrize("method", sorted(GROUPINGS.keys() - OWN_GROUPINGS))
def test_ways_to_group_have_a_source(method):
    assert len(dk.cite(GROUPINGS[method].partition)) > 1


def test_diskret_comes_first_and_each_source_once():
    found = dk.cite("hypercube", dk.rules.PPercent(5), "hypercube")
    assert found[0] == SOFTWARE and len(found) == len({*found}) == 3


def test_a_protected_table_names_its_rule_and_its_method():
    cells = pa.table({"region": ["Total", "N", "S"], "count": [13, 8, 5]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="count")
    found = dk.cite(dk.suppress(table, dk.rules.MinimumFrequency(6), method="hypercube"))
    assert [*found] == [
        SOFTWARE,
        *dk.cite(dk.rules.MinimumFrequency)[1:],
        *dk.cite("suppression.hypercube")[1:],
    ]
    assert dk.cite(dk.round_table(table, base=3)) == dk.cite(dk.round_table)
    adjusted = dk.adjust(table, dk.rules.MinimumFrequency(6))
    assert dk.cite(adjusted) == dk.cite(dk.adjust)


def test_microdata_name_what_was_done_to_them():
    frame = pa.table({"sex": ["f", "m"] * 4, "income": [float(i) for i in range(8)]})
    md = dk.Microdata(frame, keys=["sex"], numeric=["income"])
    done = md.microaggregate(k=3).pram(["sex"], seed=1)
    assert dk.cite(done) == dk.cite("microdata.mdav", dk.Microdata.pram)
    assert dk.cite(md) == (SOFTWARE,)
    again = dk.Microdata(frame, keys=["sex"]).pram(["sex"], seed=1)
    assert dk.cite(again.release(dk.claims.KAnonymity(2))) == dk.cite(again) != (SOFTWARE,)


def test_what_is_not_known_is_refused_with_what_is_near():
    with pytest.raises(InputError, match="hypercube"):
        dk.cite("hyper_cube")
    with pytest.raises(InputError, match="int is no method"):
        dk.cite(5)


def test_only_the_references_of_a_docstring_are_taken():
    def method():
        """Do something.

        References
        ----------
        First (2001),
        one.

        Second (2002).

        Notes
        -----
        Not a source.
        """

    assert references(method) == ["First (2001), one.", "Second (2002)."]


def test_the_citation_file_tells_the_same():
    said = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"^version: (.*)$", said, re.MULTILINE)[1] == dk.__version__
    assert "license: Apache-2.0" in said and "The diskret developers" in said
