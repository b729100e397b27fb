"""Tables of the papers on l-diversity and t-closeness give the figures printed there."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

from diskret import Hierarchy, Microdata

# Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007): inpatients, 4-anonymous and 3-diverse
ANONYMOUS = [
    *[("130**", "<30", illness) for illness in ("heart", "heart", "viral", "viral")],
    *[("1485*", ">=40", illness) for illness in ("cancer", "heart", "viral", "viral")],
    *[("130**", "3*", "cancer")] * 4,
]
DIVERSE = [
    *[("1305*", "<=40", illness) for illness in ("heart", "viral", "cancer", "cancer")],
    *[("1485*", ">40", illness) for illness in ("cancer", "heart", "viral", "viral")],
    *[("1306*", "<=40", illness) for illness in ("heart", "viral", "cancer", "cancer")],
]
# Li, Li, Venkatasubramanian (2007): salaries in thousands and diseases, 3-diverse and close
SIMILAR = [
    [(3, "gastric ulcer"), (4, "gastritis"), (5, "stomach cancer")],
    [(6, "gastritis"), (11, "flu"), (8, "bronchitis")],
    [(7, "bronchitis"), (9, "pneumonia"), (10, "stomach cancer")],
]
CLOSE = [
    [(3, "gastric ulcer"), (5, "stomach cancer"), (9, "pneumonia")],
    [(6, "gastritis"), (11, "flu"), (8, "bronchitis")],
    [(4, "gastritis"), (7, "bronchitis"), (10, "stomach cancer")],
]
TREE = {
    "respiratory": {
        "infection": ["flu", "pneumonia", "bronchitis"],
        "vascular": ["pulmonary edema", "pulmonary embolism"],
    },
    "digestive": {
        "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
        "colon": ["colitis", "colon cancer"],
    },
}


def inpatients(rows):
    zips, ages, illness = zip(*rows, strict=True)
    table = pa.table({"zip": zips, "age": ages, "illness": illness})
    return Microdata(table, keys=["zip", "age"], sensitive=["illness"])


def diseases():
    parents = [("Total", None)]
    for system, groups in TREE.items():
        parents.append((system, "Total"))
        for group, leaves in groups.items():
            parents += [(group, system), *((leaf, group) for leaf in leaves)]
    codes, above = zip(*parents, strict=True)
    return Hierarchy.from_parents(pa.table({"code": codes, "parent": above}))


def salaries(classes):
    rows = [(i, *row) for i, group in enumerate(classes) for row in group]
    group, salary, disease = zip(*rows, strict=True)
    table = pa.table({"zip": group, "salary": salary, "disease": disease})
    return Microdata(table, keys=["zip"], sensitive=["salary", "disease"])


def test_four_anonymous_inpatients_can_all_have_the_same_illness():
    found = inpatients(ANONYMOUS).anonymity()
    assert (found.k, found.diversity, found.alpha, found.entropy) == (4, 1, 1.0, 1.0)
    assert found.recursive == float("inf")


def test_inpatients_of_the_diverse_table_are_three_diverse():
    found = inpatients(DIVERSE).anonymity()
    assert (found.k, found.diversity, found.alpha) == (4, 3, 0.5)
    assert found.entropy == pytest.approx(2**1.5)
    # frequencies 2, 1, 1: recursively (c, 2)-diverse above 2 / 2, (c, 3)-diverse above 2 / 1
    assert found.recursive == 1
    assert inpatients(DIVERSE).anonymity(l=3).recursive == 2


def test_similar_salaries_are_far_from_the_table():
    found = salaries(SIMILAR).anonymity(ordered=["salary"])
    closeness = found.records["salary_closeness"].to_pylist()
    # the paper's worked example: {3, 4, 5} is 0.375, {6, 8, 11} is 0.167 from the table
    assert closeness[0] == pytest.approx(0.375)
    assert closeness[3] == pytest.approx(1 / 6)


def test_close_salaries_are_0167_close():
    found = salaries(CLOSE).anonymity(ordered=["salary"])
    assert found.variables[0].worst("closeness") == pytest.approx(1 / 6)
    assert found.diversity == 3


def test_diseases_are_as_far_as_least_transport_in_the_tree_says():
    # the paper prints 0.278 for this table; with nine records, classes of three and distances of
    # 1/3, 2/3 and 1 every distance is a multiple of 1/27, and 0.278 is none
    found = salaries(CLOSE).anonymity(trees={"disease": diseases()})
    closeness = found.records["disease_closeness"].to_pylist()[::3]
    assert closeness == pytest.approx([7 / 27, 8 / 27, 5 / 27])
    assert closeness == pytest.approx([transport(CLOSE, group) for group in CLOSE])


def transport(table, group):
    """The least share times distance by linear programme, distances as the paper gives them."""
    place = {
        leaf: (system, part, leaf)
        for system, parts in TREE.items()
        for part, leaves in parts.items()
        for leaf in leaves
    }
    every = [disease for rows in table for _, disease in rows]
    own = [disease for _, disease in group]
    cost = [
        [sum(a != b for a, b in zip(place[one], place[other], strict=True)) / 3 for other in every]
        for one in own
    ]
    rows, columns = np.kron(np.eye(3), np.ones(9)), np.kron(np.ones(3), np.eye(9))
    ends = [1 / 3] * 3 + [1 / 9] * 9
    return linprog(np.ravel(cost), A_eq=np.vstack([rows, columns]), b_eq=ends).fun
