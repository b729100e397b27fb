"""Where no rule looks for group disclosure, the certificate says so, and only there."""

import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack.statements import GROUP_DISCLOSURE
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
FEW = dk.rules.MinimumFrequency(3)
LOOKING = [
    dk.rules.GroupDisclosure(95) | FEW,
    FEW | dk.rules.MarginalValue(1),
    dk.rules.MarginalValue(1, variables=["ill"]),
]


@pytest.fixture(scope="module")
def persons():
    cells = {"age": [*"yyoo"], "ill": ["no", "yes"] * 2, "n": [20, 2, 14, 9]}
    return dk.Table.from_cells(pa.table(cells), by={"age": None, "ill": None}, count="n")


def named(certificate):
    said = certificate["not_claimed"]
    german, english = (
        GROUP_DISCLOSURE.in_language(language) in said[language] for language in ("de", "en")
    )
    assert german == english
    return german


def test_without_a_rule_that_looks_it_is_named(persons, tmp_path):
    result = dk.suppress(persons, FEW)
    assert named(result.certificate.public())
    assert any("group disclosure" in line for line in result.certificate.summary())
    for intervals in (False, True):
        folder = result.write(tmp_path / str(intervals), ["csv"], keys=KEYS, intervals=intervals)
        assert verify(folder, keys=KEYS).checked_internal


@pytest.mark.parametrize("rule", LOOKING)
def test_with_a_rule_that_looks_it_is_not_named(persons, rule, tmp_path):
    result = dk.suppress(persons, rule)
    assert not named(result.certificate.public())
    folder = result.write(tmp_path / "out", ["csv"], keys=KEYS, intervals=True)
    assert verify(folder, keys=KEYS).checked_internal
    assert "not_claimed" in (folder / "public" / "count.certificate.json").read_text()


def test_each_of_several_tables_is_told_apart(persons):
    other = persons.recode("age", {"Total": ["y", "o"]})
    one, two = dk.suppress([persons, other], [FEW, LOOKING[0]], name=["one", "two"])
    assert named(one.certificate.public()) and not named(two.certificate.public())


def test_changed_values_name_it_too(persons):
    rounded = dk.round_table(persons, 3, "controlled", keys=KEYS)
    assert named(rounded.certificate.public())
    ruled = dk.round_table(persons, 5, "controlled", rule=LOOKING[0], keys=KEYS)
    assert not named(ruled.certificate.public())
    assert named(dk.adjust(persons, FEW).certificate.public())
