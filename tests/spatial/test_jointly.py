"""Three geographies and more: parts of a map, programmes where they are large, and what is open."""

import numpy as np
import pyarrow as pa
import pytest
from geographies_oracle import Case, many
from profiles import scaled

import diskret as dk
from diskret.spatial import differences, elimination, joint_parts, jointly
from diskret.spatial.pieces import pieces_of

FEW = dk.rules.MinimumFrequency


def found_and_wanted(case, value):
    unit = "unit" if "unit" in case.frame.column_names else None
    told = differences(case.frame, case.by, FEW(case.threshold), unit=unit, value=value)
    found = set()
    for one in told:
        inside = case.records_in(one)
        assert ((case.times(one) != 0) == inside).all()
        assert one.number == len(set(case.unit[inside])) < case.threshold
        found |= set(case.piece[inside])
    return told, found, case.pieces_of_few(value is not None, case.sums())


def check_programmes(case):
    decided = 0
    for value in (None, "value"):
        told, found, wanted = found_and_wanted(case, value)
        assert told.complete and found <= wanted
        if told.joint:
            assert found == wanted
            decided += told.extent.programmes
    return decided


def test_programmes_find_what_trying_all_sums_finds(monkeypatch):
    monkeypatch.setattr(jointly, "_WORK", -1)
    assert sum(check_programmes(Case(seed, 3)) for seed in range(scaled(250)))


@pytest.mark.slow
def test_five_thousand_triples_by_programmes(monkeypatch):
    monkeypatch.setattr(jointly, "_WORK", -1)
    for seed in range(5_000):
        check_programmes(Case(seed, 3))


def test_four_geographies_are_tried_together():
    for seed in range(scaled(100)):
        told, found, wanted = found_and_wanted(Case(seed, 4), None)
        assert told.joint and found == wanted


@pytest.mark.parametrize("seed", range(scaled(60)))
def test_pieces_of_many_part_the_map_and_lose_nothing(seed):
    case = many(seed, 3)
    case.threshold = 3
    told, found, wanted = found_and_wanted(case, None)
    assert told.joint and found == wanted


def three_on_a_map(areas, cells, posts, seed=1):
    """A country: districts, grid cells and postal areas, persons with heavy tails."""
    draw = np.random.default_rng(seed)
    width = round(cells**0.5)
    place = np.indices((4 * width, 4 * width)).reshape(2, -1).T
    near = [draw.random((number, 2)) * 4 * width for number in (areas, posts)]
    area, post = (((place[:, None] - own) ** 2).sum(axis=2).argmin(axis=1) for own in near)
    cell = place[:, 0] // 4 * width + place[:, 1] // 4
    persons = np.floor(np.exp(draw.normal(1, 1.2, len(place)))).astype(int)
    persons[draw.random(len(place)) < 0.5] = 0
    some = persons > 0
    columns = {"area": area, "cell": cell, "post": post, "persons": persons}
    return pa.table({name: own[some] for name, own in columns.items()})


def test_a_map_of_thousands_of_areas_is_tried_to_the_end():
    country = three_on_a_map(60, 1_600, 50)
    told = differences(country, ["area", "cell", "post"], FEW(5), count="persons")
    assert told.complete and told.joint and told.extent.programmes == 0
    assert 0 < told.extent.areas < 100
    assert f"in parts of up to {told.extent.areas} areas" in told.summary()
    jointly_only = [one for one in told if len(one.geographies) == 3]
    columns = [country[name].to_pylist() for name in ("area", "cell", "post")]
    persons = country["persons"].to_numpy()
    for one in jointly_only[:50]:
        times = np.zeros(len(persons))
        for name, code, factor in one.terms:
            codes = columns[("area", "cell", "post").index(name)]
            times += factor * np.array([str(own) == code for own in codes])
        assert persons @ np.abs(times) == one.number < 5


def test_what_is_left_open_is_said(monkeypatch):
    case = Case(7, 3)
    monkeypatch.setattr(jointly, "_WORK", -1)
    told = differences(case.frame, case.by, FEW(9))
    assert told.joint and told.extent.programmes and told.extent.areas == 0
    assert f"Of {told.extent.programmes} pieces in larger parts programmes" in told.summary()
    monkeypatch.setattr(jointly, "_PROGRAMMES", 0)
    told = differences(case.frame, case.by, FEW(9))
    assert not told.joint and told.extent.left
    assert f"Of {told.extent.left} pieces in larger parts it is not known" in told.summary()
    assert "nicht bekannt" in told.summary("de")


def test_rows_without_heavy_columns_make_all_that_others_do():
    draw = np.random.default_rng(2)
    from scipy import sparse

    for _ in range(20):
        rows, columns = draw.integers(2, 7, 2)
        dense = draw.integers(-1, 3, (rows, columns)) * (draw.random((rows, columns)) < 0.6)
        heavy = draw.random(columns) < 0.4
        left = elimination.without(sparse.csr_array(dense.astype(np.int64)), heavy)
        told = left.told.toarray()
        assert not told[:, heavy].any()
        rank = np.linalg.matrix_rank
        assert rank(told) == rank(dense) - rank(dense[:, heavy]) if heavy.any() else True
        for own in np.eye(len(told)):
            assert np.allclose(left.factors(own) @ dense, own @ told)


def test_a_part_that_is_left_out_is_found_out(monkeypatch):
    parts = joint_parts.joint_parts
    monkeypatch.setattr(jointly, "joint_parts", lambda *given: list(parts(*given))[1:])
    with pytest.raises(AssertionError):
        for seed in range(50):
            _, found, wanted = found_and_wanted(Case(seed, 3), None)
            assert found == wanted


def test_few_parts_of_few_pieces_are_left_of_a_map():
    country = three_on_a_map(60, 1_600, 50)
    pieces = pieces_of(country, ["area", "cell", "post"], count="persons")
    parts = list(joint_parts.joint_parts(pieces, pieces.weight, 5))
    assert max(part.told.shape[1] for part in parts) < 50
    every = np.concatenate([own for part in parts for own in part.atoms])
    assert len(every) == len(set(every.tolist())) and (pieces.count[every] < 5).all()
