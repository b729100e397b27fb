"""What was worked out about a publication is kept, and worked out anew once that is changed."""

import numpy as np

from diskret.attack.all_cells import all_cells
from diskret.attack.equations import equations
from diskret.hierarchy import Hierarchy
from diskret.tables import Dimension, Publication, Published


def test_a_changed_publication_is_worked_out_anew():
    suppressed = np.array([False, True, True, False])
    tree, value = Hierarchy.flat(["a", "b", "c"]), np.array([9, 0, 0, 4])
    own = Published("t", (Dimension("x", tree),), "n", True, 0, value, suppressed, value < 0)
    publication = Publication((own,))
    first = equations(publication)
    assert equations(publication) is first and all_cells(publication) is all_cells(publication)
    assert equations(Publication((own,))) is not first
    value[0] = 10
    assert equations(publication).right.tolist() != first.right.tolist()
    suppressed[3] = True
    assert equations(publication).cell.tolist() == [1, 2, 3]
