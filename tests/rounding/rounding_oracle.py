"""Controlled rounding by another program, in another form: whole leaves, deviations bounded."""

import numpy as np
from scipy import optimize, sparse

from diskret.tables.add_up import leaf_mask


def least_distance(table, base, steps):
    """Σ|z − a| of the best rounding of a table of counts, or None if there is none."""
    a = table.count.ravel().astype(float)
    sums = leaf_sums(table)
    n, m = sums.shape
    reach = np.where(a % base == 0, steps * base, (steps + 1) * base - 1)
    reach[a == 0] = 0
    # columns: leaves in bases, then |z - a| of each cell
    z = sparse.hstack([base * sums, sparse.csr_array((n, n))])
    off = sparse.hstack([sparse.csr_array((n, m)), sparse.eye_array(n)])
    rules = [
        optimize.LinearConstraint(sparse.csr_array(z), np.maximum(a - reach, 0), a + reach),
        optimize.LinearConstraint(sparse.csr_array(z - off), -np.inf, a),
        optimize.LinearConstraint(sparse.csr_array(z + off), a, np.inf),
    ]
    found = optimize.milp(
        np.r_[np.zeros(m), np.ones(n)],
        constraints=rules,
        integrality=np.r_[np.ones(m), np.zeros(n)],
        bounds=optimize.Bounds(0, np.inf),
        options={"mip_rel_gap": 0},
    )
    return None if found.x is None else round(found.fun)


def leaf_sums(table):
    """Which leaf combinations each cell holds, dense trees multiplied out."""
    found = np.ones((1, 1))
    for dimension in table.dimensions:
        tree = dimension.hierarchy
        own = [
            [int(code in tree.ancestors[leaf]) for leaf in tree.leaves] for code in range(len(tree))
        ]
        found = np.kron(found, np.array(own))
    assert np.array_equal(found @ table.count[leaf_mask(table.dimensions)], table.count.ravel())
    return sparse.csr_array(found)
