"""What suppression leaves is told to every reader: how many records look like fewer than k."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import VerificationError
from diskret.publish.verify.folder import verify

SECRET = dk.SecretKeys(bytes(range(32)))
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def counted(rows, k):
    """By hand, from pairs of released records: look the same; show what this one shows."""
    unlike = lean = 0
    for one in rows:
        unlike += sum(other == one for other in rows) < k
        lean += (
            sum(all(a is None or a == b for a, b in zip(one, other, strict=True)) for other in rows)
            < k
        )
    return unlike, lean


@examples(60)
@given(
    st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=3, max_size=14),
    st.sampled_from([2, 3]),
)
def test_the_public_figures_are_counted_as_by_hand(rows, k):
    table = pa.table({f"k{j}": [row[j] for row in rows] for j in range(3)})
    md = dk.Microdata(table, keys=table.column_names).local_suppression(k)
    made = md.release(dk.claims.KAnonymity(k), keys=SECRET)
    released = list(zip(*(made.table.column(j).to_pylist() for j in range(3)), strict=True))
    unlike, lean = counted(released, k)
    assert (made.certificate.shown.get("unlike", 0),
            made.certificate.shown.get("lean_on_gaps", 0)) == (unlike, lean)  # fmt: skip


def test_of_testdata_it_stands_on_the_public_page(reference_data, tmp_path):
    table = csv.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")
    md = dk.Microdata(table, keys=KEYS).local_suppression(5)
    out = md.release(dk.claims.KAnonymity(5), keys=SECRET).write(tmp_path / "out")
    page = (out / "public" / "microdata.html").read_text(encoding="utf-8")
    assert "219 records have fewer than 5 in the file that look the same" in page
    assert verify(out, keys=SECRET)
    # other meanings of "match", as decision 35 lists them
    released = [md.table[name].to_pylist() for name in KEYS]
    original = np.stack([table[name].to_numpy() for name in KEYS], axis=1)
    assert all(v in (None, o) for own, column in zip(released, original.T, strict=True)
               for v, o in zip(own, column.tolist(), strict=True))  # fmt: skip
    kept = np.array([[-1 if v is None else v for v in own] for own in released]).T
    shown, of, count = np.unique(kept, axis=0, return_inverse=True, return_counts=True)
    of = of.ravel()
    assert (count[of] < 5).sum() == 219
    known, back = np.unique(original, axis=0, return_inverse=True)
    hidden = shown[None] == -1
    as_shown = ((shown[:, None] == shown[None]) | hidden).all(axis=2) @ count
    of_known = ((known[:, None] == shown[None]) | hidden).all(axis=2) @ count
    one_shows = ((shown[:, None] == shown[None]) | (shown[:, None] == -1)).all(axis=2) @ count
    fewer = [(one[at] < 5).sum() for one, at in
             ((as_shown, of), (of_known, back.ravel()), (one_shows, of))]  # fmt: skip
    assert fewer == [215, 205, 17]


@pytest.mark.parametrize("figure", ["unlike", "lean_on_gaps"])
def test_changed_figures_are_found(tmp_path, figure):
    rows = {"a": ["x", "x", "y", None], "b": ["u", "u", None, "u"]}
    md = dk.Microdata(pa.table(rows), keys=["a", "b"])
    out = md.release(dk.claims.KAnonymity(2), keys=SECRET).write(tmp_path / "out", ["csv"])
    path = out / "public" / "microdata.certificate.json"
    content = json.loads(path.read_text())
    content["shown"][figure] += 1
    path.write_text(json.dumps(content))
    with pytest.raises(VerificationError, match="figures|shows"):
        verify(out / "public")
