"""Every claim of microdata is counted again in the file: true ones pass, sabotage is refused."""

import json
from datetime import date, datetime
from decimal import Decimal
from itertools import combinations
from math import exp, log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from transport import earth_mover

from diskret import claims as C
from diskret.attack.microdata import certify, claims_shown, leaving
from diskret.attack.microdata.said import Open
from diskret.errors import InputError, ProofError

KEYS = ["sex", "job"]
# two groups of three, one of two; (f, baker) has a gap that may stand for either job
FILE = pa.table(
    {
        "sex": ["m", "m", "m", "f", "f", "f", "f", "f"],
        "job": ["baker", "baker", "baker", "smith", "smith", None, "clerk", "clerk"],
        "ill": ["flu", "flu", "cold", "flu", "cold", "gout", "gout", "cold"],
        "income": [10, 20, 30, 15, 25, 35, 40, 50],
    }
)
WEIGHT = np.array([10.0, 10.0, 10.0, 20.0, 20.0, 20.0, 5.0, 5.0])
HOUSEHOLD = ["a", "a", "b", "b", "c", None, "d", None]
PLAIN = {"weight": None, "household": None}


def certified(claim, table=FILE, keys=KEYS, **given):
    given = {"weight": WEIGHT, "household": HOUSEHOLD, "sensitive": ["ill"], **given}
    return certify("persons", table, keys, claim, **given)


def holds(claim, table=FILE, keys=KEYS, **given):
    try:
        certified(claim, table, keys, **given)
    except ProofError:
        return False
    return True


def changed(name, row, value):
    values = FILE.column(name).to_pylist()
    values[row] = value
    return FILE.set_column(FILE.schema.get_field_index(name), name, pa.array(values))


@pytest.mark.parametrize("gaps", [True, False])
def test_combinations_compared_pair_by_pair_agree_as_often(monkeypatch, gaps):
    random = np.random.default_rng(1)
    rows = random.integers(-1, 2, (60, 5))
    amounts = [np.ones(40), random.integers(1, 9, 40).astype(float)]
    grouped = leaving.agreeing(rows[:20], rows[20:], amounts, gaps)
    monkeypatch.setattr(leaving, "_WAYS", 0)
    monkeypatch.setattr(leaving, "_PAIR", 0)
    monkeypatch.setattr(leaving, "_BLOCK", 100)
    found = leaving.agreeing(rows[:20], rows[20:], amounts, gaps)
    for one, other in zip(grouped, found, strict=True):
        assert one.tolist() == other.tolist()


# ── an oracle: record against record ─────────────────────────────────────────────────


def alike(rows, missing):
    def agree(i, j):
        if i == j:
            return True
        if missing == "conservative" and None in rows[i] + rows[j]:
            return False
        return all(
            a == b or (missing == "wildcard" and None in (a, b))
            for a, b in zip(rows[i], rows[j], strict=True)
        )

    return [[j for j in range(len(rows)) if agree(i, j)] for i in range(len(rows))]


def risk_of(f, total):
    if total <= f:
        return 1 / f
    p, q = f / total, 1 - f / total
    term, found, j = 1 / f, 0.0, 0
    while term > 1e-15:  # p Σ q^j B(f, j + 1)
        found += p * term
        term *= q * (j + 1) / (f + j + 1)
        j += 1
    return found


def distance(own, every, ordered):
    if ordered:
        return earth_mover(own, every, sorted({*every} - {None}))
    return sum(abs(own.count(v) / len(own) - every.count(v) / len(every)) for v in {*every}) / 2


def diversity(own, kind):
    counts = sorted((own.count(value) for value in set(own)), reverse=True)
    if kind == "distinct":
        return len(counts)
    return exp(-sum(n / len(own) * log(n / len(own)) for n in counts))


values_of = st.sampled_from(["a", "b", None])
files = st.lists(
    st.tuples(values_of, values_of, st.sampled_from([1, 2, 3, None]), st.integers(1, 9)),
    min_size=1,
    max_size=9,
)
missing_as = st.sampled_from(["wildcard", "category", "conservative"])


@examples(50)
@given(files, missing_as)
def test_claims_hold_exactly_up_to_what_pairs_of_records_say(rows, missing):
    table = pa.table(
        {
            "sex": pa.array([row[0] for row in rows], pa.string()),
            "job": pa.array([row[1] for row in rows], pa.string()),
            "ill": pa.array([row[2] for row in rows], pa.int64()),
        }
    )
    weight = np.array([row[3] for row in rows], dtype=float)
    groups = alike([row[:2] for row in rows], missing)
    every = [row[2] for row in rows]
    own = [[every[j] for j in group] for group in groups]

    def true(claim):
        return holds(claim, table, weight=weight, household=None)

    k = min(map(len, groups))
    assert k == 1 or true(C.KAnonymity(k, missing=missing))
    assert not true(C.KAnonymity(k + 1, missing=missing))
    risks = [risk_of(len(group), weight[group].sum()) for group in groups]
    assert true(C.RiskBelow(max(risks), missing=missing))
    assert not true(C.RiskBelow(max(risks) * 0.999, missing=missing))
    assert true(C.ExpectedBelow(min(float(np.mean(risks)) * 1.0001, 1), missing=missing))
    assert not true(C.ExpectedBelow(float(np.mean(risks)) * 0.999, missing=missing))
    for ordered in (False, True):
        far = max(distance(values, every, ordered) for values in own)
        assert true(C.TCloseness(min(far + 1e-6, 1), ordered=ordered, missing=missing))
        assert far < 1e-3 or not true(C.TCloseness(far - 1e-6, ordered=ordered, missing=missing))
    for kind in ("distinct", "entropy"):
        least = min(diversity(values, kind) for values in own)
        assert true(C.LDiversity(least if kind == "distinct" else least * 0.9999 + 1e-4,
                                 kind=kind, missing=missing))  # fmt: skip
        above = least + 1 if kind == "distinct" else least * 1.001
        assert not true(C.LDiversity(above, kind=kind, missing=missing))
    largest = max(values.count(v) / len(values) for values in own for v in set(values))
    assert k == 1 or true(C.AlphaK(largest, k, missing=missing))
    assert not true(C.AlphaK(largest * 0.999, max(k, 2), missing=missing))
    assert not true(C.AlphaK(1, k + 1, missing=missing))
    ratios = [
        values.count(v) / len(values) * len(every) / every.count(v) - 1
        for values in own
        for v in set(values)
    ]
    assert true(C.BetaLikeness(max(ratios) + 1e-6, enhanced=False, missing=missing))
    assert max(ratios) < 1e-3 or not true(
        C.BetaLikeness(max(ratios) - 1e-6, enhanced=False, missing=missing)
    )
    whole = all(set(values) == set(every) for values in own)
    logs = max(abs(log(ratio + 1)) for ratio in ratios)
    assert true(C.DeltaDisclosure(logs + 1e-6, missing=missing)) == whole


@examples(50)
@given(files)
def test_recursive_diversity_and_households_hold_up_to_what_pairs_of_records_say(rows):
    table = pa.table(
        {
            "sex": pa.array([row[0] for row in rows], pa.string()),
            "job": pa.array([row[1] for row in rows], pa.string()),
            "ill": pa.array([row[2] for row in rows], pa.int64()),
            "grade": pa.array([row[3] % 2 for row in rows]),
        }
    )
    every = [row[2] for row in rows]
    groups = alike([row[:2] for row in rows], "wildcard")
    kept = True
    for group in groups:
        counts = sorted(
            ([every[j] for j in group].count(v) for v in {every[j] for j in group}), reverse=True
        )
        kept &= counts[0] < 2 * sum(counts[1:])
    assert holds(C.LDiversity(2, kind="recursive", c=2.0), table, weight=None, household=None) == (
        kept
    )
    # who knows the grade looks only among those who share it
    known = [[j for j in group if rows[j][3] % 2 == rows[i][3] % 2] for i, group in
             enumerate(groups)]  # fmt: skip
    least = min(len({every[j] for j in group}) for group in known)
    grades = min(
        len({rows[j][3] % 2 for j in group if every[j] == every[i]})
        for i, group in enumerate(groups)
    )
    both = {"sensitive": ["ill", "grade"], "weight": None, "household": None}
    claim = C.LDiversity(min(least, grades), others_known=True)
    assert holds(claim, table, **both)
    assert not holds(C.LDiversity(min(least, grades) + 1, others_known=True), table, **both)
    risks = [1 / len(group) for group in groups]
    house = [row[3] % 3 for row in rows]
    together = max(
        1 - np.prod([1 - risks[j] for j in range(len(rows)) if house[j] == house[i]])
        for i in range(len(rows))
    )
    given = {"weight": None, "household": house}
    assert holds(C.RiskBelow(min(together + 1e-9, 1), household=True), table, **given)
    assert not holds(C.RiskBelow(together * 0.99, household=True), table, **given)


# ── sabotage ─────────────────────────────────────────────────────────────────────────


def test_true_claims_are_certified_in_both_languages():
    claims = [C.KAnonymity(3), C.RiskBelow(0.05), C.LDiversity(2), C.TCloseness(0.5)]
    made = certified(claims)
    counted = {"unlike": 5, "lean_on_gaps": 4}
    assert made.shown == {"k": 3, "keys": KEYS, "missing": "wildcard", **counted}
    assert len(made.summary("de")) == len(made.summary("en")) >= 10
    with pytest.raises(InputError, match="fr"):
        made.summary("fr")
    assert (
        "Every record agrees in the variables sex, job with at least 3 records, itself included."
        in made.summary()
    )


@pytest.mark.parametrize(
    ("claim", "table", "weight"),
    [
        (C.KAnonymity(4), FILE, WEIGHT),  # one more than there is
        (C.KAnonymity(3), changed("job", 0, "smith"), WEIGHT),
        (C.KAnonymity(3), changed("job", 5, "baker"), WEIGHT),  # the gap held two groups together
        (C.KAnonymity(3), changed("sex", 2, "f"), WEIGHT),
        (C.KAnonymity(3), FILE.slice(1), WEIGHT[1:]),  # a record is gone
        (C.RiskBelow(0.05), FILE, np.where(np.arange(8) == 0, 1.0, WEIGHT)),
        (C.RiskBelow(0.05), changed("job", 7, "smith"), WEIGHT),
        (C.ExpectedBelow(0.04), FILE, WEIGHT / 2),
        (C.LDiversity(2), changed("ill", 2, "flu"), WEIGHT),
        (C.TCloseness(0.42), changed("ill", 4, "flu"), WEIGHT),
        (C.KMap(3, FILE.slice(1)), FILE, WEIGHT),
    ],
)
def test_a_changed_file_is_refused(claim, table, weight):
    if table is not FILE or weight is not WEIGHT:
        certified(claim)
    with pytest.raises(ProofError, match="file 'persons': .* records"):
        household = HOUSEHOLD[: table.num_rows]
        certified(claim, table, weight=weight, household=household)


def test_refusal_counts_records_and_names_some_with_a_remedy():
    with pytest.raises(
        ProofError,
        match=r"4 of 8 records agree in sex, job with fewer than 4 .* rows 1, 2, 3; suppress",
    ):
        certified(C.KAnonymity(4, missing="wildcard"), changed("job", 6, None))


def test_every_choice_of_some_keys_is_checked():
    table = pa.table({name: ["x"] * 4 + ["y"] * 4 for name in "abc"})
    table = table.set_column(2, "c", pa.array(["x", "y"] * 4))
    for size, least in ((1, 4), (2, 2), (3, 2)):
        claim = C.KAnonymity(least, size=size)
        made = certify("t", table, list("abc"), claim)
        assert made.shown["size"] == size
        with pytest.raises(ProofError):
            certify("t", table, list("abc"), C.KAnonymity(least + 1, size=size))
    with pytest.raises(InputError, match="4 of the 3 keys"):
        certify("t", table, list("abc"), C.KAnonymity(2, size=4))


@pytest.mark.parametrize("missing", ["wildcard", "category", "conservative"])
def test_any_reader_can_count_again_what_is_shown(missing):
    table = FILE.filter([True] * 5 + [False] + [True] * 2)
    claims = [C.KAnonymity(2, missing=missing), C.KAnonymity(3, keys="sex", missing=missing)]
    made = certify("persons", table, KEYS, claims)
    shown = json.loads(json.dumps(made.public()))["shown"]
    assert list(claims_shown(shown)) == [
        C.KAnonymity(2, ("sex", "job"), missing),
        C.KAnonymity(3, ("sex",), missing),
    ]
    assert claims_shown({}) == ()


def test_population_is_asked_for_what_the_file_shows():
    persons = {"sex": ["m", "f", "f"], "job": ["baker", "smith", "clerk"], "n": [9, 4, 7]}
    population = pa.table(persons)
    assert holds(C.KMap(4, population, count="n"))
    assert not holds(C.KMap(5, population, count="n"))
    assert holds(C.KMap(7, population, count="n"), FILE.slice(5, 3), weight=None, household=None)
    conservative = C.KMap(2, population, count="n", missing="conservative")
    assert not holds(conservative)
    assert holds(conservative, FILE.slice(0, 5), weight=None, household=None)
    other = population.set_column(0, "sex", pa.array([1.5, 2.5, 2.5]))
    assert not holds(C.KMap(2, other, count="n"))


# ── what leaves ──────────────────────────────────────────────────────────────────────


def test_public_part_names_no_threshold_and_no_parameter():
    claims = [
        C.KAnonymity(3),
        C.RiskBelow(0.1479),
        C.ExpectedBelow(0.0787),
        C.LDiversity(1.87, kind="entropy"),
        C.TCloseness(0.5432),
        C.AlphaK(0.7321, 3),
        C.BetaLikeness(2.345, enhanced=False),
    ]
    made = certified(claims)
    public = json.dumps(made.public())
    internal = json.dumps(made.internal())
    for secret in ("0.1479", "0.0787", "1.87", "0.5432", "0.7321", "2.345"):
        assert secret not in public and secret.replace(".", ",") not in public
        assert secret in internal
    assert "k" in made.public()["shown"] and "fewest_alike" in internal


def test_numbers_of_numpy_are_numbers():
    made = certified([C.KAnonymity(np.int64(3)), C.RiskBelow(np.float32(0.05))])
    assert json.loads(json.dumps(made.internal()))["claims"][0]["claimed"]["k"] == 3
    assert made.public()["shown"]["k"] == 3
    with pytest.raises(InputError, match="whole number"):
        C.KAnonymity(float("nan"))


POPULATION = pa.table(
    {"sex": ["m", "f", "f", "f"], "job": ["baker", "smith", "clerk", "clerk"], "n": [1200, 4, 7, 8]}
)
MODEL = {"fit": lambda _: {"wildcard": leaving.Modelled(np.full(8, 0.2), 1.25)}}
WITHOUT = {"weight": None}  # one in three, and one in five for whom a gap agrees with everybody


@pytest.mark.parametrize(
    ("given", "holding", "counted", "failing", "refused"),
    [
        # the gap agrees with all five women, who are two, one and two if missing is a value
        ({}, C.KAnonymity(3), "for 8 records: at least 3 agree. Without missing values of other "
         "records, 4 of them agree with fewer than 3.",
         C.KAnonymity(4), "7 of 8 records agree in sex, job with fewer than 4 records, themselves"),
        ({}, C.KAnonymity(3, size=1), "8 records: at least 3 agree. Without missing values of "
         "other records, 4 of them agree with fewer than 3.",
         C.KAnonymity(4, size=1), "7 of 8 records agree in some 1 of sex, job with fewer than 4"),
        ({}, C.KAnonymity(3, keys="sex"), "at least 3 agree. Without missing values of other "
         "records, 0 of them",
         C.KAnonymity(4, keys="sex"), "3 of 8 records agree in sex with fewer than 4 records"),
        # two smiths have four persons, two clerks fifteen
        ({}, C.KMap(4, POPULATION, "n"), "8 records: at least 4 persons of the population.",
         C.KMap(5, POPULATION, "n"), "2 of 8 records agree in sex, job with fewer than 5 persons "
         "of the population, e.g. rows 4, 5; suppress"),
        (WITHOUT, C.RiskBelow(0.334), "the largest risk is 0.3333; 0.334 is allowed.",
         C.RiskBelow(0.33), "7 of 8 records have a risk above 0.33, up to 0.3333, e.g. rows 1, 2"),
        # two of three: a household of two
        (WITHOUT, C.RiskBelow(0.6, household=True), "risk of households is 0.5556; 0.6 is allowed.",
         C.RiskBelow(0.5, household=True), "4 of 8 records have a risk of their household above "
         "0.5, up to 0.5556, e.g. rows 1, 2, 3;"),
        (WITHOUT, C.ExpectedBelow(0.32), "2.533 are expected to be recognised, a rate of 0.3167; "
         "0.32 is allowed.",
         C.ExpectedBelow(0.31), "2.533 of 8 records are expected to be recognised, a rate of "
         "0.3167 and not at most 0.31"),
        (MODEL, C.RiskBelow(0.2), "risk is 0.2; 0.2 is allowed. For each record that is the "
         "larger of two estimates, at most 0.04637 by the weights alone and 0.2 by a log-linear",
         C.RiskBelow(0.19), "8 of 8 records have a risk above 0.19, up to 0.2, "),
        (MODEL, C.ExpectedBelow(0.2), "1.6 are expected to be recognised, a rate of 0.2; 0.2 is "
         "allowed.",
         C.ExpectedBelow(0.19), "1.6 of 8 records are expected to be recognised, a rate of 0.2 "),
        ({}, C.LDiversity(2), "l-diversity (distinct; l = 2) was counted again for 8 records and "
         "ill.",
         C.LDiversity(3), "5 of 8 records break l-diversity (distinct; l = 3) of ill, e.g. rows "),
        ({}, C.LDiversity(2, kind="recursive", c=3), "(recursive; c = 3; l = 2)",
         C.LDiversity(2, kind="recursive", c=0.5), "8 of 8 records break l-diversity (recursive; "
         "c = 0.5; l = 2) of ill"),
        ({}, C.TCloseness(0.5), "t-closeness (t = 0.5) was counted",
         C.TCloseness(0.1), "6 of 8 records break t-closeness (t = 0.1) of ill"),
        ({}, C.AlphaK(0.7, 3), "(α; k)-anonymity (α = 0.7; k = 3) was counted",
         C.AlphaK(0.5, 3), "5 of 8 records break (α; k)-anonymity (α = 0.5; k = 3) of ill"),
        ({}, C.BetaLikeness(2, enhanced=False), "β-likeness (basic; β = 2) was counted",
         C.BetaLikeness(0.1), "8 of 8 records break β-likeness (enhanced; β = 0.1) of ill"),
        ({"sensitive": ["sex"]}, C.DeltaDisclosure(2, "income"), None,
         C.DeltaDisclosure(0.5), "8 of 8 records break δ-disclosure privacy (δ = 0.5) of sex"),
    ],
)  # fmt: skip
def test_the_office_reads_what_was_counted_or_what_fails(given, holding, counted, failing, refused):
    if counted:
        (said,) = certified(holding, **given).checked
        assert counted in said.en and said.de != said.en
    with pytest.raises(ProofError) as told:
        certified(failing, **given)
    assert f"file 'persons': {refused}" in str(told.value)
    assert str(told.value).endswith(("claim a smaller k", "allow more", "claim less"))


def test_the_office_reads_on_which_estimates_a_risk_rests():
    """Of ten records one is alone, with a weight of 4."""
    file = pa.table({"k": ["a"] * 9 + ["b"]})
    weight = np.array([100.0] * 9 + [4.0])
    model = leaving.Modelled(np.array([0.001] * 9 + [0.75]), 0.6)
    asked = [C.RiskBelow(1), C.ExpectedBelow(1)]

    def said(**given):
        return [one.en for one in certify("f", file, ["k"], asked, **given).checked]

    alone = float(risk_of(1, 4))
    of_all = alone + 9 * risk_of(9, 900)
    for options, risks, expected in (
        ({}, ["is 1; 1 is allowed."], ["2 are expected"]),
        (
            {"weight": weight},
            [f"is {alone:.4g};", "on the weights alone"],
            [f"{of_all:.4g} are expected", "0.25 of 1 sample uniques", "on the weights alone"],
        ),
        (
            {"weight": weight, "fit": lambda _: {"wildcard": model}},
            ["is 0.75;", f"{alone:.4g}", "0.75"],
            ["0.759 are expected", "0.25", "0.6", f"{of_all:.4g}", "0.759"],
        ),
        (
            {"weight": weight, "fit": lambda _: {"category": model}},
            ["on the weights alone"],
            ["on the weights alone"],
        ),
    ):
        largest, number = said(**options)
        assert all(part in largest for part in risks), largest
        assert all(part in number for part in expected), number
        for one in (largest, number):
            assert ("on the weights alone" in one) == ("on the weights alone" in risks)
            assert ("two estimates" in one) == ("0.75" in risks)


def test_what_was_claimed_and_what_was_found_stand_beside_each_other():
    """Whatever variables are called, and where both are called alike."""
    names = ["rate", "claim", "kind", "fewest_alike"]
    file = pa.table({"k": ["a"] * 4, **{name: [1, 2, 1, 2] for name in names}})
    claims = [
        C.ExpectedBelow(0.3),
        C.LDiversity(2, names, kind="entropy"),
        C.AlphaK(0.5, 4, names),
        C.TCloseness(0.2, names, ordered=(1, 2)),
    ]
    made = certify("f", file, ["k"], claims)
    rate, diverse, share, close = json.loads(json.dumps(made.internal()))["claims"]
    assert rate["claimed"]["rate"] == 0.3 and rate["rate"] == 0.25
    assert "0.25" in made.checked[0].en and "0.3 " in made.checked[0].en
    assert diverse["claim"] == "LDiversity" and diverse["claimed"]["kind"] == "entropy"
    assert diverse["variables"] == {name: {"records_short": 0} for name in names}
    assert share["fewest_alike"] == 4 and share["claimed"]["alpha"] == 0.5
    assert share["variables"] == {name: {"records_outside": 0} for name in names}
    assert close["variables"] == {name: {"largest_distance": 0.0} for name in names}
    days = pa.table({"k": ["a"] * 2, "day": [date(2020, 1, 2), date(2020, 1, 1)]})
    order = C.TCloseness(0.5, "day", ordered=days["day"].to_pylist()[::-1])
    (found,) = json.loads(json.dumps(certify("f", days, ["k"], order).internal()))["claims"]
    assert found["claimed"]["ordered"] == ["2020-01-01", "2020-01-02"]


def test_minus_zero_is_no_value_of_its_own():
    """It would be a step of the line, so that all others came nearer."""
    for zero in (0.0, -0.0):
        file = pa.table({"k": ["a"] * 4 + ["b"] * 4, "x": [0.0, zero, 1, 2, 0, 1, 1, 2]})
        made = certify("f", file, ["k"], C.TCloseness(0.5, "x", ordered=True))
        assert made.figures["claims"][0]["variables"]["x"]["largest_distance"] == 1 / 16
        file = pa.table({"x": np.array([0, zero], dtype=np.float16)})
        certify("f", file, ["x"], C.KAnonymity(2))
        with pytest.raises(ProofError, match="l-diversity"):
            certify("f", file, ["x"], C.LDiversity(2, "x"))


def test_what_is_just_not_less_is_refused_though_computers_round():
    """7 of a value are not less than 0.07 times 100; three times a share is not below log 3."""
    many = [f"v{i // 5}" for i in range(100)]
    file = pa.table({"k": ["a"] * 107, "x": ["x"] * 7 + many})
    assert 7 < 0.07 * 100
    assert not holds(C.LDiversity(2, "x", kind="recursive", c=0.07), file, ["k"], **PLAIN)
    assert holds(C.LDiversity(2, "x", kind="recursive", c=0.0701), file, ["k"], **PLAIN)
    # in "a" x has 3 of 10, in the file 4 of 40
    rest = ["x"] * 1 + ["y"] * 29
    file = pa.table({"k": ["a"] * 10 + ["b"] * 30, "x": ["x"] * 3 + ["y"] * 7 + rest})
    assert 0.3 / 0.1 < 3
    assert not holds(C.DeltaDisclosure(log(3), "x"), file, ["k"], **PLAIN)
    assert holds(C.DeltaDisclosure(1.11, "x"), file, ["k"], **PLAIN)
    assert holds(C.BetaLikeness(2, "x", enhanced=False), file, ["k"], **PLAIN)  # is at most


def test_not_claimed_follows_from_what_is_claimed():
    def said(claim, **given):
        return " ".join(s.en for s in certified(claim, **given).not_claimed)

    assert "may agree in other variables" in said(C.KAnonymity(3))
    assert "may agree in other variables" not in said([C.KAnonymity(3), C.LDiversity(2)])
    assert "Numeric" in said(C.KAnonymity(3), left=Open(numeric=True))
    assert "Numeric" not in said(C.KAnonymity(3))
    assert "rest on a model" in said(C.RiskBelow(0.05))
    assert "beyond the keys" in said(()) and "no more was changed than necessary" in said(())


def test_names_with_braces_and_commas_stand_as_they_are():
    table = pa.table({"a, {b}": ["x", "x"]})
    said = certify("t", table, ["a, {b}"], C.KAnonymity(2)).summary("de")
    assert any("a, {b}" in sentence for sentence in said)


def test_a_certificate_is_told_in_short():
    made = certified(C.KAnonymity(3))
    assert repr(made) == f"MicrodataCertificate('persons': {len(made.claimed)} claims)"
    card = made._repr_html_()
    assert "MicrodataCertificate persons" in card
    assert all(said.en.split(",")[0] in card for said in made.claimed)


def test_direct_identifiers_never_leave_under_any_name():
    named = FILE.append_column("name", pa.array([f"P{i}" for i in range(8)]))
    given = {"original": named, "identifiers": ["name"]}
    certified(C.KAnonymity(3), **given)
    with pytest.raises(ProofError, match="identifier 'name' would leave"):
        certified((), named, **given)
    other = named.rename_columns([*FILE.column_names, "x"]).take([7, 6, 5, 4, 3, 2, 1, 0])
    with pytest.raises(ProofError, match="column 'x' holds the values"):
        certified((), other, **given)
    with pytest.raises(ProofError, match="column 'x' holds the values"):
        numbers = pa.table({"x": range(8), "sex": FILE["sex"], "job": FILE["job"]})
        text = pa.table({"name": [str(i) for i in range(8)]})
        certify("t", numbers, KEYS, (), original=text, identifiers=["name"])


@pytest.mark.parametrize(
    ("identifier", "column", "copied"),
    [
        (["P1", "P2", "P3", "P4"], ["P4", None, "P2", "P1"], True),
        (["P1", "P2", "P3", "P4"], ["P4", None, None, "P2"], True),
        (["P1", "P1", "P3", "P4"], ["P1", "P1", None, None], False),  # one value tells no two apart
        (["P1", "P2", "P3", "P4"], ["P1", "P1", "P2", "P3"], False),  # P1 is there once
        (["P1", "P2", "P3", "P4"], ["P1", "P2", "P3", "P5"], False),
        (["P1", "P2", "P3", "P4"], [None, None, None, None], False),
        ([1, 2, 3, 4], [4.0, None, 2.0, 1.0], True),
        ([1, 2, 3, 4], ["4", None, "2", "1"], True),
        ([1, 2, 3, 4], [4, None, None, 2], False),  # half of the numbers may be there by chance
        (["3-1", "3-2", "3-3", "3-4"], ["3-4", None, None, "3-2"], False),  # or of the days
        (list(range(9)), [5, None, 3, None, 1, 7, None, None, 8], True),  # five of nine
        (list(range(10)), [5, None, 3, None, 1, 7, None, None, 8, None], False),  # and of ten
        ([1, 2, 3, 4], [4.5, None, 2.0, 1.0], False),
        ([1, 2, 3, 4], [4, 3, 2, 2], False),
        ([1, 2, 3, 4], [Decimal("4.00"), None, Decimal("2.00"), Decimal("1.00")], True),
        ([1, 2, 3, 4], [Decimal("4.50"), None, Decimal("2.00"), Decimal("1.00")], False),
        (["001", "002", "003", "004"], [4, None, 2, 1], True),
        ([1, 2, 3, 4], ["4.0", None, "2.", "01"], True),
        ([1, 2, 3, 4], ["4.01", None, "2", "1"], False),
        ([10, 20, 30, 40], [4, None, 2, 1], False),  # zeros at the end count
        (["Ann", "Bea", "Cem", "Dov"], ["dov ", None, None, " ANN"], True),
        (["Ann", "ann", "Cem", "Dov"], ["ann", "ANN", None, None], True),  # both are there
        (
            [date(1950, 1, d) for d in (1, 2, 3, 4)],
            [datetime(1950, 1, d) for d in (4, 2, 1, 3)],
            True,
        ),
        (
            [date(1950, 1, d) for d in (1, 2, 3, 4)],
            [datetime(1950, 1, d, 12) for d in (4, 2, 1, 3)],
            False,
        ),
    ],
)
def test_a_copy_of_an_identifier_is_known_by_what_is_left_of_it(identifier, column, copied):
    file = pa.table({"sex": ["m"] * len(column), "x": column})
    original = pa.table({"pid": identifier})

    def leave():
        certify("f", file, ["sex"], (), original=original, identifiers=["pid"])

    if copied:
        with pytest.raises(
            ProofError, match="column 'x' holds the values of the direct identifier"
        ):
            leave()
    else:
        leave()


# ── what cannot be checked ───────────────────────────────────────────────────────────


def somebody(number):
    return pa.table({"sex": ["m", "f"], "job": ["baker", "smith"], "n": [9, number]})


@pytest.mark.parametrize(
    ("claim", "given", "message"),
    [
        (C.KAnonymity(2, keys=["town"]), {}, "'town', which does not leave"),
        (C.LDiversity(2), {"sensitive": []}, "sensitive variables, and none is named"),
        (C.RiskBelow(0.5, household=True), {"household": None}, "needs the household"),
        (C.RiskBelow(0.5), {"weight": WEIGHT[1:]}, "8 finite numbers above 0"),
        (C.RiskBelow(0.5), {"weight": WEIGHT * 0}, "8 finite numbers above 0"),
        (C.KAnonymity(2), {"household": ["a"]}, "8 numbers or names"),
        (C.TCloseness(0.5, ordered=("flu", "cold")), {}, "'gout' of 'ill' does not stand"),
        (C.KMap(2, somebody(None), count="n"), {}, "1 count of the population is missing"),
        (C.KMap(2, somebody(-1), count="n"), {}, "or below 0 .the first in row 2"),
        (C.KMap(2, somebody(np.inf), count="n"), {}, "infinite or beyond .* .first in row 2"),
        (C.TCloseness(0.5, ordered=()), {}, "does not stand in its order"),
        (C.Safe(3), {}, "no claim about records that stand for somebody; claim it alone"),
        (C.RiskBelow(0.5), {"keys": []}, "'persons' has no keys; name those"),
        (C.KAnonymity(2), {"table": FILE.slice(8)}, "has no records; there is nothing to claim"),
        (C.KMap(2, pa.table({"sex": ["m"], "job": [[1]]})), {}, "give both the same type"),
    ],
)
def test_what_cannot_be_checked_is_said(claim, given, message):
    with pytest.raises(InputError, match=message):
        certified(claim, **given)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: C.KAnonymity(1), "k= must be a whole number from 2 upwards"),
        (lambda: C.KAnonymity(2.5), "whole number"),
        (lambda: C.KAnonymity(2, missing="any"), "'wildcard', 'category'"),
        (lambda: C.KAnonymity(2, keys=[1]), "names of columns"),
        (lambda: C.RiskBelow(0), "above 0"),
        (lambda: C.RiskBelow(1.5), "at most 1"),
        (lambda: C.LDiversity(2, kind="recursive"), "c= must be a number"),
        (lambda: C.LDiversity(2, c=2), "belongs to kind='recursive'"),
        (lambda: C.LDiversity(2.5), "whole number"),
        (lambda: C.LDiversity(0.5, kind="entropy"), "a number from 1 upwards"),
        (lambda: C.TCloseness(True), "must be a number"),
        (lambda: C.BetaLikeness(0), "above 0"),
        (lambda: C.DeltaDisclosure("1"), "must be a number"),
        (lambda: C.Safe(1), "minimum= must be a whole number from 2 upwards"),
    ],
)
def test_parameters_are_checked(made, message):
    with pytest.raises(InputError, match=message):
        made()


def test_what_must_stay_is_tables_by_their_names_and_cells_by_text():
    assert C.Safe().exact is None
    for exact, expected in (
        ("sex", (("sex",),)),
        ([("sex", "job"), "job"], (("sex", "job"), ("job",))),
        ({"sex": "m", "age": 7}, ({"sex": "m", "age": "7"},)),
        (["sex", {"age": None}], (("sex",), {"age": None})),
    ):
        assert C.Safe(exact=exact).exact == expected


def test_enhanced_likeness_bounds_frequent_values_too():
    # "flu" has a share of 3/8: at most an increase by -log(3/8) = 0.98, whatever beta is
    assert not holds(C.BetaLikeness(5.0), changed("ill", 2, "flu").set_column(
        2, "ill", pa.array(["flu"] * 3 + ["cold"] * 4 + ["gout"])))  # fmt: skip
    assert holds(C.BetaLikeness(5.0, enhanced=False))


def test_a_household_that_was_drawn_whole_is_one_draw():
    """Three alike in two households, of which each has one and a half; two in one of theirs."""
    file = pa.table({"k": ["a", "a", "a", "b", "b", None]})
    given = {"weight": [10.0, 20.0, 30.0, 8.0, 8.0, 5.0], "household": [1, 1, 2, 3, 3, 4]}
    for missing, risks in (
        ("category", [(2, 40, 2 / 3), (1, 8, 1 / 2), (1, 5, 1)]),
        # the gap agrees with all, and they with it
        ("wildcard", [(3, 65 * 3 / 4, 3 / 4), (2, 21 * 2 / 3, 2 / 3), (4, 81 * 4 / 6, 4 / 6)]),
    ):
        largest = max(risk_of(f, total) * part for f, total, part in risks)
        asked = [C.RiskBelow(1, missing=missing), C.ExpectedBelow(1, missing)]
        found, rate = certify("f", file, ["k"], asked, together=True, **given).figures["claims"]
        assert found["largest_risk"] == pytest.approx(largest, rel=1e-9)
        expected = sum(n * risk_of(*r[:2]) * r[2] for n, r in zip((3, 2, 1), risks, strict=True))
        assert rate["expected_recognised"] == pytest.approx(expected)
        alone = certify("f", file, ["k"], asked, **given).figures["claims"][1]
        assert alone["expected_recognised"] != pytest.approx(expected)


def test_what_stands_in_a_dictionary_is_its_value():
    coded = pa.table({name: FILE[name].dictionary_encode() for name in ("sex", "job", "ill")})
    for claim in (C.KAnonymity(3), C.KMap(4, POPULATION, "n"), C.LDiversity(2)):
        assert certified(claim, coded).figures == certified(claim).figures
    persons = pa.table({n: POPULATION[n].dictionary_encode() for n in ("sex", "job")})
    persons = persons.append_column("n", POPULATION["n"])
    assert holds(C.KMap(4, persons, "n"), coded)
    assert not holds(C.KMap(5, persons, "n"), coded)


@pytest.mark.parametrize("missing", ["wildcard", "category", "conservative"])
def test_more_combinations_than_numbers_have_are_told_apart(missing):
    random = np.random.default_rng(3)
    rows = random.integers(0, 400, (60, 9))[random.integers(0, 60, 400)]
    rows[:300, 4] = np.where(random.random(300) < 0.1, -1, rows[:300, 4])
    found = leaving.combinations(list(rows.T), missing)
    apart = np.arange(len(rows)) if missing == "conservative" else 0 * rows[:, 0]
    shown = [(*row, n * (-1 in row)) for row, n in zip(rows.tolist(), apart.tolist(), strict=True)]
    for i, j in combinations(range(0, 400, 7), 2):
        assert (found.of[i] == found.of[j]) == (shown[i] == shown[j])
    assert found.count[found.of[5]] == shown.count(shown[5])


def test_pairs_of_claims_do_not_disturb_each_other():
    claims = [C.KAnonymity(3), C.LDiversity(2), C.RiskBelow(0.05), C.NoIdentifiers()]
    for pair in combinations(claims, 2):
        assert len(certified(pair).figures["claims"]) == 2


def test_records_that_lean_on_gaps_of_others_are_counted_for_every_reader():
    job = ["baker", "mayor", "vicar", None, None]  # who shows nothing agrees with everybody
    file = pa.table({"job": job})
    made = certify("persons", file, ["job"], C.KAnonymity(3))
    (figures,) = made.internal()["claims"]
    assert figures["fewest_alike"] == 3 and figures["lean_on_gaps"] == 3
    assert "3 of them agree with fewer than 3" in made.checked[0].en
    assert made.shown["unlike"] == 5 and made.shown["lean_on_gaps"] == 3
    for language in ("en", "de"):
        (said,) = [one for one in made.public()["claimed"][language] if "5 " in one]
        assert "3 " in said
    alike = certify("persons", pa.table({"job": ["baker"] * 3 + [None]}), ["job"], C.KAnonymity(3))
    assert alike.internal()["claims"][0]["lean_on_gaps"] == 0
    assert alike.shown["unlike"] == 1
    assert (
        "unlike" not in certify("p", pa.table({"job": ["a"] * 3}), ["job"], C.KAnonymity(3)).shown
    )


@pytest.mark.parametrize(
    "claim", [C.RiskBelow(1), C.RiskBelow(1, household=True), C.ExpectedBelow(1)]
)
@pytest.mark.parametrize("how", ["weights", "model"])
def test_a_risk_that_is_no_number_is_never_below_a_threshold(claim, how):
    """Weights that sum to more than any number, and a model that ended in none."""
    file = pa.table({"sex": ["m"] * 4})
    given = {"household": [1, 1, 2, 2]}
    certify("f", file, ["sex"], claim, weight=[9.0] * 4, **given)
    if how == "weights":
        wrong = {"weight": [1e308] * 4}
    else:
        model = leaving.Modelled(np.array([0.1, np.nan, 0.1, 0.1]), 0.0)
        wrong = {"weight": [9.0] * 4, "fit": lambda _: {"wildcard": model}}
    with np.errstate(all="ignore"), pytest.raises(ProofError):
        certify("f", file, ["sex"], claim, **wrong, **given)


#: What a reader takes for flu, for cold and for nothing, as records may spell it.
SPELLED = {
    "flu": ["flu", "flu ", " Flu", "FLU", "fl\u00adu", "f\u200blu"],
    "grippé": ["grippé", "grippe\u0301", "Grippé\u00a0"],
    None: [None, "", "  ", "\ufeff"],
}
READ = {text: read for read, texts in SPELLED.items() for text in texts}


@given(
    st.lists(
        st.tuples(st.sampled_from(["m", "f"]), st.sampled_from([*READ])), min_size=2, max_size=8
    ),
    st.integers(2, 3),
)
@examples(60)
def test_another_spelling_makes_nobody_diverse(records, least):
    sexes, ills = zip(*records, strict=True)
    file = pa.table({"sex": sexes, "ill": pa.array(ills, pa.string())})
    read = {sex: {READ[ill] for own, ill in records if own == sex} for sex in sexes}
    diverse = all(len(values) >= least for values in read.values())
    plain = file.set_column(1, "ill", pa.array([READ[ill] for ill in ills], pa.string()))
    for claim in (C.LDiversity(least), C.AlphaK(0.6, 2), C.TCloseness(0.3), C.DeltaDisclosure(0.5)):
        found = []
        for table in (file, plain):
            try:
                certify("f", table, ["sex"], claim, sensitive=["ill"])
                found.append(True)
            except ProofError:
                found.append(False)
        assert found[0] == found[1]
        if isinstance(claim, C.LDiversity):
            assert found[0] == diverse


def test_minus_zero_is_zero_among_sensitive_values():
    for values, diverse in (([0.0, -0.0, 0.0], False), ([0.0, 1.0, -0.0], True)):
        file = pa.table({"sex": ["m"] * 3, "ill": values})
        if diverse:
            certify("f", file, ["sex"], C.LDiversity(2), sensitive=["ill"])
        else:
            with pytest.raises(ProofError, match="break l-diversity"):
                certify("f", file, ["sex"], C.LDiversity(2), sensitive=["ill"])
