"""The line of every key is found, however the TOML is laid out."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from diskret.io.key_lines import key_lines

TEXT = '''\
# a comment with = and [brackets]
top = "a # no comment"

[a]
b = [1, 2,   # comment ]
     "x]",
     { c = 3 },
]
"quoted key" = \'\'\'
[not]
a = "section"\'\'\'
d.e.f = 1.5
when = 1979-05-27T07:32:00Z
g = { h = 1, i = { j = "}" } }

[[list]]
k = """
\\"""
[[list]]
l = 2
"""
[[list]]
[list.sub]
m = ""
[[list.more]]
n = 1e3
[[list.more]]
'''

LINES = {
    ("top",): 2,
    ("a",): 4,
    ("a", "b"): 5,
    ("a", "b", 1): 5,
    ("a", "b", 2): 6,
    ("a", "b", 3, "c"): 7,
    ("a", "quoted key"): 9,
    ("a", "d", "e", "f"): 12,
    ("a", "when"): 13,
    ("a", "g", "i", "j"): 14,
    ("list",): 16,
    ("list", 0): 16,
    ("list", 0, "k"): 17,
    ("list", 1): 22,
    ("list", 1, "sub", "m"): 24,
    ("list", 1, "more", 0, "n"): 26,
    ("list", 1, "more", 1): 27,
}


def test_every_layout():
    assert tomllib.loads(TEXT)["list"][1]["more"] == [{"n": 1000.0}, {}]
    found = key_lines(TEXT)
    assert {path: found[path] for path in LINES} == LINES


def test_windows_line_ends_make_no_difference():
    assert key_lines(TEXT.replace("\n", "\r\n")) == key_lines(TEXT)


def test_nothing_is_found_that_is_not_there():
    assert set(key_lines(TEXT)) == set(paths(tomllib.loads(TEXT)))


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every path that tomllib sees."""
    below = value.items() if isinstance(value, dict) else enumerate(value)
    found: list[tuple[str | int, ...]] = []
    for key, inner in below:
        found.append((*path, key))
        if isinstance(inner, dict | list):
            found += paths(inner, (*path, key))
    return found


KEYS = st.text("abc-é.#=[]\"' ", min_size=1, max_size=4)
SCALARS = st.one_of(
    st.integers(-9, 9),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("ab#=[]{},.\"'\\\n", max_size=6),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def inline(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(inline(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(k)} = {inline(v)}" for k, v in value.items()) + "}"
    return repr(value)


@given(
    st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=4), max_size=4),
    st.lists(st.sampled_from(["", "# [x] = {", "\n"]), min_size=1, max_size=5),
)
def test_any_document(document: dict[str, dict[str, Any]], gaps: list[str]):
    lines: list[str] = []
    expected: dict[tuple[str | int, ...], int] = {}

    def write(line: str) -> int:
        lines.extend(gaps[len(lines) % len(gaps)].split("\n"))
        lines.append(line)
        return len(lines)

    for section, values in document.items():
        expected[(section,)] = write(f"[{quoted(section)}]  # [[{section!r}]]")
        for key, value in values.items():
            expected[(section, key)] = line = write(f"{quoted(key)} = {inline(value)} # = ]")
            if isinstance(value, dict | list):
                expected |= {(section, key, *path): line for path in paths(value)}
    text = "\n".join(lines)
    assert tomllib.loads(text) == document
    assert dict(key_lines(text)) == expected
