"""The made-up business register has the traits that make disclosure control hard."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from diskret.datasets import business_register
from diskret.errors import InputError

REGISTER = business_register()
FIRMS = REGISTER.records


def column(name: str) -> np.ndarray:
    return FIRMS[name].to_numpy(zero_copy_only=False)


def test_columns_and_types():
    text, whole = pa.string(), pa.int64()
    assert {field.name: field.type for field in FIRMS.schema} == {
        "firm_id": text,
        "group_id": text,
        "nace": text,
        "region": text,
        "size": text,
        "employees": whole,
        "turnover": whole,
    }


@pytest.mark.parametrize("n", [1, 2, 30, 5_000])
def test_as_many_firms_as_asked_for(n):
    firms = business_register(n).records
    assert firms.num_rows == n
    assert pc.count_distinct(firms["firm_id"]).as_py() == n
    required = [name for name in firms.column_names if name != "group_id"]
    assert all(firms[name].null_count == 0 for name in required)


def test_same_seed_same_register():
    assert business_register(500, seed=3).records == business_register(500, seed=3).records
    assert business_register(500, seed=3).records != business_register(500, seed=4).records


@pytest.mark.parametrize("arguments", [{"n": 0}, {"n": -5}, {"seed": -1}])
def test_impossible_arguments_are_refused(arguments):
    with pytest.raises(InputError):
        business_register(**arguments)


def test_every_code_is_a_leaf_and_every_leaf_occurs():
    for name, tree in REGISTER.by.items():
        leaves = {tree.codes[i] for i in tree.leaves}
        assert set(FIRMS[name].unique().to_pylist()) == leaves


def test_trees_have_realistic_size():
    assert len(REGISTER.nace) == 36 and REGISTER.nace.level.max() == 2
    assert len(REGISTER.region) == 21 and REGISTER.region.level.max() == 2
    assert REGISTER.size.codes == ("Total", "1-9", "10-49", "50+")
    for tree in (REGISTER.nace, REGISTER.region):
        assert set(tree.labels) == set(tree.codes[1:])


def test_leading_zeros_are_part_of_the_codes():
    assert {"08", "01"} <= set(REGISTER.nace.codes) | set(REGISTER.region.codes)


def test_size_class_follows_from_employees():
    employees = column("employees")
    for name, low, high in [
        ("1-9", 1, 9),
        ("10-49", 10, 49),
        ("50+", 50, 10**9),
    ]:
        inside = employees[column("size") == name]
        assert inside.min() >= low and inside.max() <= high


def test_turnover_grows_with_employees():
    logs = np.log(column("employees")), np.log(column("turnover"))
    assert np.corrcoef(*logs)[0, 1] > 0.6
    assert column("turnover").min() >= 1


def test_a_twelfth_of_the_firms_belongs_to_holdings_of_two_to_six():
    group = column("group_id")
    members = group[[g is not None for g in group]]
    _, sizes = np.unique(members.astype(str), return_counts=True)
    assert 0.07 < len(members) / len(group) < 0.09
    assert set(sizes) == {2, 3, 4, 5, 6}


def test_some_holdings_straddle_industries_but_most_do_not():
    firms = FIRMS.filter(pc.is_valid(FIRMS["group_id"]))
    industries = firms.group_by("group_id").aggregate([("nace", "count_distinct")])
    straddling = pc.mean(pc.greater(industries["nace_count_distinct"], 1)).as_py()
    assert 0.1 < straddling < 0.5


def test_some_cells_are_dominated_by_one_firm_and_some_are_empty():
    cells = FIRMS.group_by(["nace", "region", "size"]).aggregate(
        [("turnover", "sum"), ("turnover", "max"), ("turnover", "count")]
    )
    share = cells["turnover_max"].to_numpy() / cells["turnover_sum"].to_numpy()
    firms = cells["turnover_count"].to_numpy()
    assert np.sum((share > 0.85) & (firms >= 3)) >= 5
    assert np.sum(firms < 3) > 100
    assert np.sum(firms >= 20) > 300
    assert 25 * 16 * 3 - len(firms) > 50
