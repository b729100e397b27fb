"""A grid cell and a municipality that isolate somebody: found from records, by an own oracle."""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError, ProofError, ProtectionError
from diskret.protect.crossed_unions import crossed_unions
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
LEAST = 3
RULE = dk.rules.MinimumFrequency(LEAST)


def persons(pieces, **more):
    grid, municipality = zip(*(piece.split("|") for piece in pieces), strict=True)
    return pa.table({"grid": grid, "municipality": municipality, **more})


#: One person of grid cell g1 lives outside municipality m1.
ISSUE = ["g1|m1"] * 30 + ["g1|m2"] + ["g2|m2"] * 40 + ["g3|m3"] * 25


def both(frame, **options):
    return [dk.tabulate(frame, by={name: None}, **options) for name in ("grid", "municipality")]


def protect(tables, rule=RULE, **options):
    return dk.suppress(tables, rule, name=["grid", "municipality"], **options)


def hidden(results):
    return [result.public["status"].to_pylist().count("suppressed") for result in results]


def test_one_person_between_a_grid_cell_and_a_municipality_is_not_told(tmp_path, monkeypatch):
    frame = persons(ISSUE)
    results = protect(both(frame))
    assert sum(hidden(results)) == 2
    assert not told(frame, results, {"grid": [], "municipality": []})
    assert results[0].certificate.internal()["crossed_not_judged"] == 0
    said = results[0].certificate.public()
    assert any("Where categories of one variable" in line for line in said["claimed"]["en"])
    assert any("Wo Kategorien eines Merkmals" in line for line in said["claimed"]["de"])
    dk.write(results, tmp_path / "out", keys=KEYS)
    assert verify(tmp_path / "out", keys=KEYS)
    monkeypatch.setattr(import_module("diskret.protect.parts"), "crossed_judge", lambda *_: None)
    open_ = protect(both(frame))
    assert sum(hidden(open_)) == 0
    assert told(frame, open_, {"grid": [], "municipality": []})
    said = open_[0].certificate.public()
    assert not any("Where categories of one variable" in line for line in said["claimed"]["en"])


def test_records_are_the_same_however_their_file_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    at = {"g1": 0.0, "g2": 1000.0, "g3": 2000.0}
    east = [at[piece[:2]] for piece in ISSUE]
    pq.write_table(persons(ISSUE, x=east, y=[0.0] * len(ISSUE)), "persons.parquet")
    (tmp_path / "link.parquet").symlink_to("persons.parquet")
    one = dk.tabulate("persons.parquet", by={"municipality": None})
    cells = dk.spatial.located("link.parquet", dk.spatial.Grid(1000, crs=25832))
    others = ["./persons.parquet", dk.DataFile("link.parquet"), [tmp_path / "persons.parquet"]]
    for records, name in [*((other, "grid") for other in others), (cells, "cell")]:
        assert sum(hidden(protect([dk.tabulate(records, by={name: None}), one]))) == 2
    later = dk.tabulate(others[0], by={"municipality": None}, vintage="2026")
    with pytest.raises(InputError, match="of the vintages"):
        protect([one, later])


@pytest.mark.parametrize(
    ("part", "pieces"),
    [
        # g1 without all that lies in it
        ("_beside_contained",
         {"g1|m1": 20, "g1|m2": 20, "g1|m3": 1, "g2|m3": 40, "g3|m4": 9, "g2|m4": 9}),
        # all that m1 touches, without it
        ("_around", {"g1|m1": 20, "g2|m1": 20, "g2|m2": 1, "g3|m2": 40, "g3|m3": 30}),
    ],
)  # fmt: skip
def test_both_kinds_of_rests_are_needed(part, pieces, monkeypatch):
    frame = persons([piece for piece, n in pieces.items() for _ in range(n)])
    names = {"grid": [], "municipality": []}
    assert not told(frame, protect(both(frame)), names)
    # what `crossed_unions` finds of two maps holds both
    monkeypatch.setattr(import_module("diskret.attack.crossed"), part, lambda *_: ())
    assert not told(frame, protect(both(frame)), names)

    def nothing(publication, own, rules):
        found, complete = crossed_unions(publication, own, rules)
        return found.only(np.zeros(len(found), bool)), complete

    monkeypatch.setattr(import_module("diskret.protect.crossed_unions"), "crossed_unions", nothing)
    assert told(frame, protect(both(frame)), names)


def test_cells_that_must_stay_published_are_refused_by_name():
    frozen = [pa.table({"grid": ["g1"]}), pa.table({"municipality": ["m1"]})]
    with pytest.raises(ProtectionError, match=r"grid=g1 without municipality: municipality=m1"):
        protect(both(persons(ISSUE)), frozen=frozen)


def test_a_job_of_two_tables_finds_it(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(persons(ISSUE), tmp_path / "persons.parquet")
    (tmp_path / "job.toml").write_text(
        """
[records]
path = "persons.parquet"

[output]
folder = "out"
formats = ["csv"]

[[tables]]
name = "grid"
by = { grid = "flat" }
rules = { minimum_frequency = { n = 3 } }

[[tables]]
name = "municipality"
by = { municipality = "flat" }
rules = { minimum_frequency = { n = 3 } }
""",
        encoding="utf-8",
    )
    from diskret.jobs.read import read_job
    from diskret.jobs.run import run_job

    _, results = run_job(read_job(tmp_path / "job.toml"), keys=KEYS)
    assert sum(hidden(results)) == 2


def test_sums_are_judged_by_those_who_are_left():
    firms = range(len(ISSUE))
    frame = persons(ISSUE, firm=list(firms), sales=[10 + i % 7 for i in firms])
    rule = dk.rules.PPercent(10) | RULE
    tables = both(frame, value="sales", unit="firm")
    assert sum(hidden(protect(tables, rule, attacker=dk.Attacker()))) >= 2
    many = persons([*ISSUE, *["g1|m2"] * 5])
    assert sum(hidden(protect(both(many)))) == 0


def test_combined_codes_are_looked_up_in_the_records():
    """Grid cells g2 and g3 together hold all of m2 but one person, and all of m3."""
    grid, municipality = both(persons(ISSUE))
    results = protect([grid.recode("grid", {"east": ["g2", "g3"]}), municipality])
    assert sum(hidden(results)) > 0


def test_where_no_rule_can_judge_it_is_said_by_name():
    tables = both(persons(ISSUE))
    given_ = [RULE(table) for table in tables]
    with pytest.warns(UserWarning, match="grid=g1 without municipality: municipality=m1"):
        results = dk.suppress(tables, given_, name=["grid", "municipality"])
    assert results[0].certificate.internal()["crossed_not_judged"] == 1


def test_of_other_records_nothing_is_claimed():
    one = dk.tabulate(persons(ISSUE), by={"grid": None})
    other = dk.tabulate(persons(ISSUE), by={"municipality": None})
    results = protect([one, other])
    said = results[0].certificate.public()
    assert any("how different variables lie" in line for line in said["not_claimed"]["en"])
    assert not any("Where categories of one variable" in line for line in said["claimed"]["en"])


@pytest.mark.long
def test_beside_earlier_releases_the_records_of_the_new_table_tell_it(tmp_path, monkeypatch):
    names = ("grid", "municipality")

    def released(folder, *columns):
        """What is told by a table of each, and whether the last one claims something of that."""
        folder.mkdir()
        ledger = dk.Ledger.create(folder / "ledger.db", KEYS)
        results = []
        for name in names:
            frame = persons(ISSUE).select(columns or [name])  # each time a frame of its own
            table = dk.tabulate(pa.table(frame.to_pydict()), by={name: None})
            results.append(dk.suppress(table, RULE, name=name, ledger=ledger))
            ledger.publish(results[-1], folder / name, ["csv"])
        assert verify(folder / names[1], keys=KEYS, releases=[folder / names[0]])
        said = results[-1].certificate.public()["claimed"]["en"]
        claimed = any("Where categories of one variable" in line for line in said)
        return told(persons(ISSUE), results, dict.fromkeys(names, [])), claimed

    assert released(tmp_path / "asked", *names) == ([], True)
    # records without the earlier variable cannot be asked, and the certificate claims nothing
    known, claimed = released(tmp_path / "alone")
    assert known and not claimed
    monkeypatch.setattr("diskret.protect.suppress.with_records", lambda one, _: one)
    assert released(tmp_path / "not", *names) == (known, False)


# ── filters by what others show ─────────────────────────────────────────────────────

#: Districts of two lands; one man lives in district 1.
DISTRICTS = [
    ("1", "a", "m", 1), ("1", "a", "f", 9), ("2", "a", "m", 9), ("2", "a", "f", 12),
    ("3", "b", "m", 4), ("3", "b", "f", 4), ("4", "b", "m", 14), ("4", "b", "f", 14),
]  # fmt: skip


def inhabitants(numbers=DISTRICTS):
    rows = [own for *own, number in numbers for _ in range(number)]
    return pa.table(dict(zip(["district", "land", "sex"], zip(*rows, strict=True), strict=True)))


def of_land(frame, by, land="a"):
    return dk.tabulate(frame, by=by, where={"land": land})


def difference(results, district, sex):
    """People of a sex in land a without those of the other district, None if one is hidden."""
    whole, part = (
        {tuple(v for k, v in row.items() if k not in ("count", "status")): row["count"]
         for row in result.public.to_pylist()}
        for result in results
    )  # fmt: skip
    less = part[(district, sex)] if (district, sex) in part else part[(sex,)]
    return None if None in (whole[(sex,)], less) else whole[(sex,)] - less


@pytest.mark.parametrize("shown", [True, False], ids=["a variable", "a second filter"])
def test_districts_of_a_land_that_a_filter_asks_for(shown, monkeypatch):
    frame = inhabitants()
    second = (
        dk.tabulate(frame, by={"district": None, "sex": None})
        if shown
        else dk.tabulate(frame, by={"sex": None}, where={"district": "2"})
    )
    pair = [of_land(frame, {"sex": None}), second]
    results = dk.suppress(pair, RULE, name=["land", "second"])
    assert difference(results, "2", "m") is None
    said = results[0].certificate.public()
    assert any("Where categories of one variable" in line for line in said["claimed"]["en"])
    assert results[0].certificate.internal()["crossed_not_judged"] == 0
    monkeypatch.setattr(import_module("diskret.protect.parts"), "crossed_judge", lambda *_: None)
    open_ = dk.suppress(pair, RULE, name=["land", "second"])
    assert difference(open_, "2", "m") == 1  # the man of district 1
    said = open_[0].certificate.public()
    assert any("how different variables lie" in line for line in said["not_claimed"]["en"])


@pytest.mark.parametrize("filtered", [True, False])
def test_a_city_that_is_a_land_is_hidden_under_both_names(filtered, monkeypatch):
    # land b has one district, with one man; what is cheap to hide beside him differs
    numbers = {"1a": (12, 40, 3), "2a": (12, 40, 4), "3b": (1, 5, 9)}
    frame = inhabitants(
        [(*place, "mfd"[i], n) for place, own in numbers.items() for i, n in enumerate(own)]
    )
    land = (
        of_land(frame, {"sex": None}, "b")
        if filtered
        else dk.tabulate(frame, by={"land": None, "sex": None})
    )
    pair = [dk.tabulate(frame, by={"district": None, "sex": None}), land]

    def status():
        found = [
            {(*codes[-2:],): row["status"] == "suppressed"
             for row in result.public.to_pylist()
             for codes in [[v for k, v in row.items() if k not in ("count", "status")]]}
            for result in dk.suppress(pair, RULE, name=["district", "land"])
        ]  # fmt: skip
        its = {sex: found[1].get(("b", sex), found[1].get((sex,))) for sex in ("Total", *"mfd")}
        return {sex: found[0]["3", sex] for sex in its}, its

    own, its = status()
    assert own == its
    assert own["m"]
    monkeypatch.setattr(import_module("diskret.protect.parts"), "crossed_judge", lambda *_: None)
    own, its = status()
    assert own != its or not filtered


def told_by_maps(places, numbers, asked, results):
    """Unsafe cells of district × sex that published counts tell whoever has the maps; from records.

    places: land and kind of each district; asked: the filter of each table, a place.
    """
    atoms = [(d, s) for d, row in enumerate(numbers) for s, n in enumerate(row) if n]
    rows = []
    for result, place in zip(results, asked, strict=True):
        for cell in result.public.to_pylist():
            if cell["count"] is not None:
                inside = [
                    cell.get("district", "Total") in ("Total", str(d))
                    and cell["sex"] in ("Total", "mf"[s])
                    and (place is None or place in places[d])
                    for d, s in atoms
                ]
                assert sum(numbers[d][s] for (d, s), its in zip(atoms, inside, strict=True) if its
                           ) == cell["count"]  # fmt: skip
                rows.append(inside)
    known = np.array(rows, dtype=float)
    rank = np.linalg.matrix_rank(known)
    alone = np.eye(len(atoms))
    return [
        atom
        for atom, one in zip(atoms, alone, strict=True)
        if numbers[atom[0]][atom[1]] < LEAST
        and np.linalg.matrix_rank(np.vstack([known, one])) == rank
    ]


def test_a_hidden_cell_that_is_safe_is_not_told_by_a_map(monkeypatch):
    # without districts 2 and 3, land a is district 0, and kind x is 0, 2 and 4
    places = ["ax", "by", "ax", "ay", "bx"]
    numbers = [(4, 9), (2, 2), (7, 12), (1, 7), (0, 1)]
    rows = [
        (str(district), *places[district], sex)
        for district, own in enumerate(numbers)
        for sex, n in zip("mf", own, strict=True)
        for _ in range(n)
    ]
    names = ["district", "land", "kind", "sex"]
    frame = pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
    tables = [
        dk.tabulate(frame, by={"district": None, "sex": None}),
        dk.tabulate(frame, by={"sex": None}, where={"land": "a"}),
        dk.tabulate(frame, by={"sex": None}, where={"kind": "x"}),
    ]
    names = ["all", "land", "kind"]
    found = dk.suppress(tables, RULE, name=names)
    assert not told_by_maps(places, numbers, [None, "a", "x"], found)
    module = import_module("diskret.protect.crossed")
    monkeypatch.setattr(module, "_is_hidden", lambda _, __, rests: np.zeros(len(rests), dtype=bool))
    found = dk.suppress(tables, RULE, name=names)
    assert told_by_maps(places, numbers, [None, "a", "x"], found) == [(4, 1)]


def test_bounds_are_not_judged_beside_what_is():
    frame = inhabitants()
    frame = frame.append_column("age", pa.array([i % 90 for i in range(frame.num_rows)]))
    tables = [
        dk.tabulate(frame, by={"district": None, "sex": None}),
        of_land(frame, {"sex": None}),
        dk.tabulate(frame, by={"sex": None}, where={"age": {"min": 20}}),
    ]
    results = dk.suppress(tables, RULE, name=["all", "land", "old"])
    # district × age and land × age
    assert results[0].certificate.internal()["crossed_not_judged"] == 2
    said = results[0].certificate.public()["not_claimed"]["en"]
    assert any("how different variables lie" in line and "unless" in line for line in said)


def test_what_a_filter_leaves_open_is_not_judged():
    frame = inhabitants()
    nowhere = pa.table({"district": ["5"] * 4, "land": [None] * 4, "sex": ["m"] * 4})
    frame = pa.concat_tables([frame, nowhere.cast(frame.schema)])
    pair = [of_land(frame, {"sex": None}), dk.tabulate(frame, by={"district": None, "sex": None})]
    results = dk.suppress(pair, RULE, name=["land", "second"])
    assert results[0].certificate.internal()["crossed_not_judged"] == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_districts_of_any_lands(seed):
    drawn = np.random.default_rng(seed)
    numbers = [
        (str(district), "ab"[place], sex, int(number))
        for district, place in enumerate(drawn.integers(0, 2, 4))
        for sex, number in zip("mf", drawn.choice([0, 1, 2, 4, 7, 12], 2), strict=True)
    ]
    frame = inhabitants(numbers)
    land = "a" if "a" in frame["land"].to_pylist() else "b"
    pair = [of_land(frame, {"sex": None}, land),
            dk.tabulate(frame, by={"district": None, "sex": None})]  # fmt: skip
    try:
        whole, part = dk.suppress(pair, RULE, name=["land", "second"])
    except (ProtectionError, ProofError):
        return
    shown = {(r["district"], r["sex"]): r["count"] for r in part.public.to_pylist()}
    inside = {district for district, its, _, n in numbers if its == land and n}
    for row in whole.public.to_pylist():
        if row["count"] is not None:
            seen = [shown[d, row["sex"]] for d in inside if shown.get((d, row["sex"])) is not None]
            assert not seen or row["count"] - sum(seen) not in (1, 2)


# ── random places ───────────────────────────────────────────────────────────────────


def told(frame, results, shared):
    """Rests of fewer than `LEAST` persons that subtracting published cells leaves; from records."""
    columns = {name: np.array(frame[name].to_pylist()) for name in frame.column_names}
    shown = []
    for result in results:
        rows = result.public.to_pylist()
        shown.append({tuple(r[n] for n in r if n not in ("count", "status")): r["count"]
                      for r in rows})  # fmt: skip
    names = [*shared]
    contexts: list[tuple[str, ...]] = [()]
    if len(next(iter(shown[0]))) > 1:
        contexts = [(sex,) for sex in ("Total", *sorted(set(columns["sex"])))]
    found = []
    for whole, part in ((0, 1), (1, 0)):
        a, b = columns[names[part]], columns[names[whole]]
        for context in contexts:
            there = np.ones(len(a), dtype=bool)
            if context and context != ("Total",):
                there = columns["sex"] == context[0]
            for code in set(b):
                inside = [c for c in set(a) if (b[a == c] == code).all()]
                public = [c for c in inside if shown[part][(c, *context)] is not None]
                left = (b == code) & ~np.isin(a, public) & there
                if shown[whole][(code, *context)] is not None and public:
                    found.append((code, context, int(left.sum())))
            for code in set(a):
                touched = set(b[a == code])
                around = np.isin(b, [*touched]) & (a != code) & there
                cells = [shown[whole][(c, *context)] for c in touched]
                if None not in [*cells, shown[part][(code, *context)]] and touched != set(b):
                    found.append((code, context, int(around.sum())))
    return [one for one in found if 0 < one[2] < LEAST]


places = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("vwxyz"), st.sampled_from([1, 1, 2, 6, 9])),
    min_size=3,
    max_size=8,
)


def nobody_is_alone(found, with_sex):
    rows = [(g, m) for g, m, n in found for _ in range(n)]
    grid, municipality = zip(*rows, strict=True)
    sex = ["fm"[i % 2] for i in range(len(rows))]
    frame = pa.table({"grid": grid, "municipality": municipality, "sex": sex})
    more = {"sex": None} if with_sex else {}
    names = ("grid", "municipality")
    tables = [dk.tabulate(frame, by={name: None, **more}) for name in names]
    try:
        results = protect(tables)
    except (ProtectionError, ProofError):
        return
    assert not told(frame, results, {"grid": [], "municipality": []})


@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(places, st.booleans())
def test_nobody_is_alone_between_two_geographies(found, with_sex):
    nobody_is_alone(found, with_sex)
