"""Records whose fields have their place in the line."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Column, read_fixed

COLUMNS = [Column("region", 1, 3), Column("turnover", 5, 4)]


def arrow(opened):
    assert opened.arrow is not None
    return opened.arrow


@pytest.fixture
def read(tmp_path):
    def write_and_read(content, columns=COLUMNS, **options):
        path = tmp_path / "records.asc"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return arrow(read_fixed(path, columns, **options)).to_pydict()

    return write_and_read


@pytest.mark.parametrize(
    "content",
    [
        "01  12.5\n02     7\n",
        "01  12.5\r\n02     7\r\n",
        "01  12.5\n02     7",
        "01  12.5\n 02    7\n\n\r\n\x1a",
        "\ufeff01  12.5 more\n02     7\n",
    ],
    ids=["LF", "CRLF", "no last newline", "marks at the end", "BOM"],
)
def test_fields_are_cut_and_stripped(read, content):
    assert read(content) == {"region": ["01", "02"], "turnover": ["12.5", "7"]}


def test_the_table_is_a_source_of_text(tmp_path):
    path = tmp_path / "records.asc"
    path.write_bytes(b"01  12.5\n")
    opened = read_fixed(str(path), COLUMNS[::-1])
    assert opened.columns == ("turnover", "region")
    assert (opened.kind, opened.paths, opened.format) == ("pyarrow", (), None)
    assert {str(field.type) for field in arrow(opened).schema} == {"large_string"}


def test_blank_and_missing_fields_are_null(read):
    content = "01  12.5\n       7\n02 \n03 \r\n"
    assert read(content) == {
        "region": ["01", None, "02", "03"],
        "turnover": ["12.5", "7", None, None],
    }


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16"])
def test_positions_count_characters(read, encoding):
    content = "Süd 12.5\nÖß     7\n".encode(encoding)
    assert read(content, encoding=encoding) == {"region": ["Süd", "Öß"], "turnover": ["12.5", "7"]}


@given(
    rows=st.lists(
        st.tuples(*[st.text("a0ü .", max_size=4).map(str.strip) for _ in range(3)]), min_size=1
    ).filter(lambda rows: any(row[2] for row in rows)),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_written_records_are_read_back(rows, newline, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "random.asc"
    lines = [f"{a:<4}|{b:>4}|{c:>4}|" for a, b, c in rows]
    path.write_bytes(newline.join(lines).encode())
    columns = [Column("a", 1, 4), Column("b", 6, 4), Column("c", 11, 4)]
    found = arrow(read_fixed(path, columns)).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        tuple(text or None for text in row) for row in rows
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ["holds no records"]),
        (b"\r\n\n", ["holds no records"]),
        (
            b"01  12.5\n02  12\n",
            ["line 2 is cut off", "'turnover' (characters 5 to 8)", "pad to 8"],
        ),
        (b"01  12.5\n" * 2 + b"0\n" * 7, ["7 lines (3, 4, 5, 6, 7, \u2026)", "'region'"]),
        (b"01  12.5\n\n02   7.5\n", ["line 2 is empty"]),
        (b"01\n02 \n", ["line 1 is cut off", "'region'"]),
        (b"010\n020\n", ["'turnover'", "beyond the longest line (3 characters)"]),
        (b"01  12.5\n\xfc1   7.5\n", ["line 2", "0xfc", "cp1252"]),
    ],
    ids=repr,
)
def test_errors_name_file_and_line(read, content, said):
    with pytest.raises(InputError) as caught:
        read(content)
    for part in ["records.asc", *said]:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ([], "no columns"),
        ([Column("a", 3, 2), Column("b", 1, 3)], "'b' (characters 1 to 3) and 'a'"),
        ([Column("a", 1, 2), Column("a", 3, 2)], "'a' is named 2 times"),
    ],
    ids=["none", "overlap", "same name"],
)
def test_columns_must_not_collide(read, columns, said):
    with pytest.raises(InputError) as caught:
        read("01  12.5\n", columns)
    assert said in str(caught.value)


@pytest.mark.parametrize(("start", "width"), [(0, 2), (-1, 2), (1, 0)])
def test_a_column_lies_in_the_line(start, width):
    with pytest.raises(InputError, match="at least 1"):
        Column("a", start, width)


def test_unknown_encoding_and_missing_file(read, tmp_path):
    with pytest.raises(InputError, match="'latin1000' is not known"):
        read("01  12.5\n", encoding="latin1000")
    with pytest.raises(InputError, match=r"nowhere\.asc: cannot be read"):
        read_fixed(tmp_path / "nowhere.asc", COLUMNS)


def test_published_records_are_read(reference_data):
    folder = reference_data / "data/tauargus/checkTauArgus/simple2d"
    columns = [Column("Size", 9, 2), Column("Region", 12, 2), Column("Var2", 28, 10)]
    table = arrow(read_fixed(folder / "tau_testW.asc", columns))
    assert table.num_rows == 42_723
    assert sum(map(Decimal, table["Var2"].to_pylist())) == Decimal("16847646.84")
    tree = Hierarchy.read(folder / "region2.hrc")
    assert set(table["Region"].to_pylist()) == {tree.codes[i] for i in tree.leaves}
