"""Trees from the files of τ-ARGUS."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy
from diskret.texts.messages import translated


@pytest.fixture
def read(tmp_path):
    def write_and_read(content, **options):
        path = tmp_path / "codes.hrc"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Hierarchy.read(path, **options)

    return write_and_read


def test_depth_is_the_number_of_lead_strings(read):
    tree = read("A\n@a\n@@01\n@@02\n@b\nB\n")
    assert tree.codes == ("Total", "A", "a", "01", "02", "b", "B")
    assert tree.parent.tolist() == [-1, 0, 1, 2, 2, 1, 0]


@pytest.mark.parametrize(
    "content",
    [
        "Nr\r\n@ 1\r\n@10\r\n",
        "Nr \n@ 1\n@10",
        "Nr\r\r\n@ 1\r\r\n@10\r\r\n",
        "\n Nr\n@ 1 \n\n@10\n\n \n",
    ],
    ids=["CRLF", "no last newline", "CR CR LF", "blank lines"],
)
def test_line_ends_and_padding_do_not_matter(read, content):
    assert read(content) == read("Nr\n@1\n@10\n")


def test_the_lead_string_is_free(read):
    assert read("A\n--a\n----x\n", lead="--") == read("A\n@a\n@@x\n")
    assert read("A\n\ta\n\t\tx\n", lead="\t") == read("A\n@a\n@@x\n")


def test_byte_order_and_end_of_file_marks_are_no_codes(read):
    assert read(b"\xef\xbb\xbfA\n@a\n\x1a") == read("A\n@a\n")


def test_a_code_may_have_a_single_child(read):
    assert read("A\n@a\n@@x").parent.tolist() == [-1, 0, 1, 2]


def test_encodings(read):
    content = "Köln\n@Süd\n"
    assert read(content.encode("latin-1"), encoding="latin-1") == read(content)
    with pytest.raises(HierarchyError, match=r"codes\.hrc: line 1 .*utf-8.*0xf6.*latin-1"):
        read(content.encode("latin-1"))
    with pytest.raises(HierarchyError, match="'latin1000' is not known"):
        read(content, encoding="latin1000")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("A\n@@x\n", ["line 2", "'x' has 2 lead strings where at most 1 fit"]),
        ("@x\n", ["line 1", "at most 0 fit"]),
        ("A\nB\n@a\nA\n", ["line 4", "'A' stands in line 1 already"]),
        ("A\n@\n", ["line 2", "no code"]),
        ("A\n@ @1\n", ["line 2", "no code"]),
        ("A\n Total\n", ["line 2", "'Total'", 'total="All"']),
        ("", ["no codes"]),
        ("\r\n \r\n", ["no codes"]),
        ("A\nA\nA\n@@x\n", ["line 2", "line 3", "line 4"]),
    ],
    ids=repr,
)
def test_errors_name_file_and_line(read, content, said):
    with pytest.raises(HierarchyError) as caught:
        read(content)
    for part in ["codes.hrc", *said]:
        assert part in str(caught.value)


def test_a_repeated_code_does_not_bring_its_children_into_trouble(read):
    with pytest.raises(HierarchyError) as caught:
        read("A\n@a\nA\n@b\n@@x\n")
    assert "line 3" in str(caught.value)
    assert "line 5" not in str(caught.value)


def test_several_problems_are_told_in_german_throughout(read):
    with pytest.raises(HierarchyError) as caught:
        read("@x\n@@y\n")
    said = translated(str(caught.value), "de")
    assert "Zeile 1: " in said and "; Zeile 2: " in said
    assert "the code" not in said and said.count("Führungszeichen") == 2


def test_another_total_makes_room_for_the_code(read):
    assert read("Total\n@a\n", total="All").codes == ("All", "Total", "a")


@pytest.mark.parametrize("options", [{"lead": ""}, {"total": " "}])
def test_lead_and_total_must_not_be_blank(read, options):
    with pytest.raises(HierarchyError):
        read("A\n", **options)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(HierarchyError, match=r"nowhere\.hrc: cannot be read"):
        Hierarchy.read(tmp_path / "nowhere.hrc")


@given(depths=st.lists(st.integers(0, 4)))
def test_written_trees_are_read_back(depths, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "random.hrc"
    lines, above = [], -1
    for number, wanted in enumerate(depths):
        above = min(wanted, above + 1)
        lines.append("@" * above + f"c{number}")
    path.write_text("\n".join(["first", *("@" + line for line in lines)]), encoding="utf-8")
    tree = Hierarchy.read(path)
    levels = zip(tree.codes[1:], tree.level[1:].tolist(), strict=True)
    assert ["@" * (level - 1) + code for code, level in levels] == [
        "first",
        *("@" + line for line in lines),
    ]


@pytest.mark.parametrize(
    ("path", "codes", "leaves"),
    [
        ("checkTauArgus/simple2d/region2.hrc", 17, 12),
        ("checkTauArgus/enterprise/KohStatReg.hrc", 15, 12),
        ("checkTauArgus/batch_ex2/hier_gender_ex2.hrc", 3, 2),
        ("tauargus/Region.hrc", 12, 8),
        ("tauargus/cellkey/Magnitude/dim_age.hrc", 9, 6),
    ],
)
def test_published_files_are_read(reference_data, path, codes, leaves):
    tree = Hierarchy.read(reference_data / "data/tauargus" / path)
    assert (len(tree), len(tree.leaves)) == (codes, leaves)


def test_region_codes_are_stripped(reference_data):
    tree = Hierarchy.read(reference_data / "data/tauargus/checkTauArgus/simple2d/region2.hrc")
    assert tree.codes[1:6] == ("Nr", "1", "2", "3", "Os")


def test_a_csv_file_is_not_taken_for_a_tree(tmp_path):
    path = tmp_path / "nace.csv"
    path.write_text("code,parent\nC,\nC10,C\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match="nace.csv: a .csv file .*from_parents"):
        Hierarchy.read(path)
