"""Files of JSON are those of the standard library, byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.publish.json_files import json_text, write_json

plain = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
finite = plain.filter(lambda one: one not in (float("inf"), float("-inf")))
keys = st.text() | st.integers() | st.none() | st.booleans()
content = st.recursive(
    finite,
    lambda inner: (
        st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, st.lists(inner))
    ),
)


@examples(200)
@given(content)
def test_the_text_is_that_of_the_standard_library(value):
    assert json_text(value) == json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_numbers_that_json_has_not_are_refused(tmp_path, value):
    for told in ({"a": value}, {"a": [1, value]}, {"a": {"b": [[], value]}}):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write_json(told, tmp_path / "t.json")
    assert not list(tmp_path.iterdir())
