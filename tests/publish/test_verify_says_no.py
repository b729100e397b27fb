"""One change a test, with whatever goes with it made anew: verification says what was changed."""

import json
import shutil
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from every_family import BY, CELLS, KEYS, UNSAFE, counts
from released_microdata import protected
from safe_files import replaced
from sealing import reseal

import diskret as dk
from diskret.attack.microdata.claims import KAnonymity, Safe
from diskret.errors import VerificationError
from diskret.publish.digests import digest
from diskret.publish.verify.folder import verify

RULE = dk.rules.MinimumFrequency(3)


def suppressed(folder):
    return dk.suppress(counts(), RULE, name="made").write(folder, ["csv"], keys=KEYS)


def rounded(folder, method: Any = "deterministic"):
    result = dk.round_table(counts(), base=5, method=method, keys=KEYS, name="made")
    return result.write(folder, ["csv"], keys=KEYS)


def small_counts(folder):
    return rounded(folder, "small_counts")


def records(folder):
    return protected().release([KAnonymity(3)], keys=KEYS).write(folder, ("csv", "parquet"))


def safe(folder):
    return replaced().release(Safe(), keys=KEYS).write(folder, ("csv", "parquet"))


MADE = {made.__name__: made for made in (suppressed, rounded, small_counts, records, safe)}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("releases")
    return {name: made(home / name) for name, made in MADE.items()}


@pytest.fixture
def release(written, tmp_path):
    def copy(name):
        return shutil.copytree(written[name], tmp_path / name)

    return copy


def certify(folder, change, part="public"):
    """Change a certificate, and list today's digests in the public one."""
    (path,) = (folder / part).glob("*.certificate.json")
    content = json.loads(path.read_text("utf-8"))
    change(content)
    if part == "public":
        content["files"] = {name: digest(folder / part / name) for name in content["files"]}
    path.write_text(json.dumps(content), encoding="utf-8")
    reseal(folder, KEYS)


def edit(path, old, new):
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def refused(folder, words, *, office=False):
    with pytest.raises(VerificationError, match=words):
        verify(folder if office else folder / "public", keys=KEYS)


def setting(*way, to):
    def change(content):
        for key in way[:-1]:
            content = content[key]
        content[way[-1]] = to

    return change


@pytest.mark.parametrize("name", MADE)
def test_untouched_they_are_confirmed(release, name):
    folder = release(name)
    certify(folder, lambda content: None)
    assert verify(folder, keys=KEYS).sealed and verify(folder / "public").tables


# ── suppressed cells ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["claimed"]["en"].append("Nobody learns anything."),
        lambda content: content["not_claimed"]["de"].pop(),
        setting("attacker", to="nobody"),
        setting("outer_intervals", to=3),
        lambda content: content["not_claimed"].update(
            {language: [] for language in content["not_claimed"]}
        ),
    ],
)
def test_a_certificate_of_suppression_says_what_was_attacked(release, change):
    folder = release("suppressed")
    certify(folder, change)
    refused(folder, "does not say what is and is not claimed")


def test_a_certificate_is_about_its_own_table(release):
    folder = release("suppressed")
    certify(folder, setting("name", to="other"))
    refused(folder, "is not about 'made'")
    folder = shutil.copytree(folder, folder.with_name("again"))
    certify(folder, lambda content: content.update(name="made") or content.pop("attacker"))
    refused(folder, "does not hold attacker")


def test_published_and_hidden_are_the_same_inside(release):
    folder = release("suppressed")
    cells = folder / "internal" / "made.cells.csv"
    kept = cells.read_text("utf-8")
    edit(cells, ",published,", ",secondary,")
    reseal(folder, KEYS)
    refused(folder, "public and internal status differ", office=True)
    cells.write_text(kept.replace("Total,Total,58,", "Total,Total,59,"), encoding="utf-8")
    reseal(folder, KEYS)
    refused(folder, "public and internal values differ", office=True)
    cells.write_text(kept.replace("Total,Total,58,58,", "Total,Total,57,57,"), encoding="utf-8")
    reseal(folder, KEYS)
    refused(folder, "public and internal values differ", office=True)
    cells.write_text(kept.rpartition("\nW,2")[0] + "\n", encoding="utf-8")
    reseal(folder, KEYS)
    refused(folder, "does not hold every cell", office=True)


@pytest.mark.parametrize("key", ["rests_judged", "rests_not_judged"])
def test_the_office_says_what_was_judged_beside_filters(release, key):
    folder = release("suppressed")
    certify(folder, setting(key, to="many"), part="internal")
    refused(folder, "does not say what was judged", office=True)
    certify(folder, setting(key, to=-1), part="internal")
    refused(folder, "does not say what was judged", office=True)


# ── changed values ──────────────────────────────────────────────────────────────────


def test_the_table_and_the_certificate_name_one_method(release):
    folder = release("rounded")
    certify(folder, setting("family", to="adjustment"))
    refused(folder, "values changed by 'adjustment', the table says 'rounding'")


def test_small_counts_are_multiples_and_large_ones_need_not_be(release):
    folder = release("small_counts")
    text = (folder / "public" / "made.csv").read_text("utf-8")
    assert "17,published" in text, "above the base nothing is rounded"
    edit(folder / "public" / "made.csv", "1,17,published", "1,2,published")
    certify(folder, lambda content: None)
    refused(folder, "not rounded as the certificate says")


def test_all_small_counts_add_up(release):
    folder = release("small_counts")
    edit(folder / "public" / "made.csv", "1,17,published", "1,18,published")
    certify(folder, lambda content: None)
    refused(folder, "says that the table adds up, but it does not")


def test_values_and_noise_are_the_same_inside(release):
    folder = release("rounded")
    cells = folder / "internal" / "made.cells.csv"
    kept = cells.read_text("utf-8")
    cells.write_text(kept.replace("58,60,2", "58,65,2"), encoding="utf-8")
    reseal(folder, KEYS)
    refused(folder, "public and internal values differ", office=True)
    cells.write_text(kept.replace("58,60,2", "58,60,3"), encoding="utf-8")
    reseal(folder, KEYS)
    refused(folder, "noise is not what was added", office=True)


def test_what_was_compared_of_changed_values_is_said(release):
    said, office = verify(release("rounded"), keys=KEYS).lines[-2:]
    assert said == "made: files unchanged; values were changed as the certificate says"
    assert office.startswith("made: 12 values and their noise compared; ")


# ── figures and combined tables ─────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def with_figures(tmp_path_factory):
    result = dk.suppress(dk.Table.from_cells(CELLS, by=BY, count="firms", value="sales"),
                         dk.rules.Apriori(UNSAFE), name="made")  # fmt: skip
    share = dk.derive.share(result.published, "region")
    folder = tmp_path_factory.mktemp("figures") / "out"
    return dk.write([result], folder, ["csv"], derived=[share], combined="all", keys=KEYS), share


@pytest.mark.parametrize("what", ["figure", "combined"])
def test_figures_and_combined_tables_follow_from_what_is_published(with_figures, tmp_path, what):
    written, share = with_figures
    folder = shutil.copytree(written, tmp_path / "out")
    lines = verify(folder, keys=KEYS).lines
    assert f"{share.name}: share follows from the published values" in lines
    assert "all: shows what stands in the files of its tables" in lines
    path = folder / "public" / f"{share.name if what == 'figure' else 'all'}.csv"
    text = path.read_text("utf-8")
    path.write_text(text.replace("100", "101"), encoding="utf-8")
    assert path.read_text("utf-8") != text
    certify(folder, lambda content: None)
    refused(folder, path.name)


# ── records ─────────────────────────────────────────────────────────────────────────


def test_records_and_columns_are_those_of_the_certificate(release):
    folder = release("records")
    certify(folder, lambda content: content["columns"].reverse())
    refused(folder, "the certificate is about others")
    certify(folder, lambda content: content["columns"].reverse() or content.update(records=7))
    refused(folder, "the certificate is about 7")


def test_what_is_claimed_can_be_counted(release):
    folder = release("records")
    kept = (folder / "public" / "microdata.certificate.json").read_bytes()

    def more(content):
        content["claimed"]["en"].append("No risk is above 3 percent.")

    def fewer(content):
        content["claimed"]["de"] = content["claimed"]["de"][:1]

    for change in (more, fewer):
        (folder / "public" / "microdata.certificate.json").write_bytes(kept)
        certify(folder, change)
        refused(folder, "does not say what is and is not claimed")


def link_of(folder):
    return folder / "internal" / "microdata.link.parquet"


def relink(folder, link):
    """Put another link in its place, written as the office writes it, without metadata."""
    pq.write_table(link, link_of(folder), store_schema=False)
    reseal(folder, KEYS)


def test_the_offices_link_has_a_row_for_each_record(release):
    folder = release("records")
    link = pq.read_table(link_of(folder))
    relink(folder, link)
    verify(folder, keys=KEYS)
    for wrong in (link.slice(1), link.rename_columns(["record", "line", *link.column_names[2:]])):
        relink(folder, wrong)
        refused(folder, "does not belong to 60 released records", office=True)
    relink(folder, link.take(list(reversed(range(60)))))
    refused(folder, "are not those that were released", office=True)
    relink(folder, link.set_column(4, "weight", pa.array([1.5] * 60)))
    refused(folder, "are not those that were released", office=True)


@pytest.mark.parametrize("name", ["records", "safe"])
@pytest.mark.parametrize("which", ["records", "released"])
def test_both_fingerprints_of_records_are_there(release, name, which):
    folder = release(name)
    certify(folder, lambda content: content["inputs"].pop(which))
    refused(folder, "lacks a fingerprint")


@pytest.mark.parametrize(
    ("key", "to", "words"),
    [
        ("unlike", 2, "figures that are not those of the file"),
        ("lean_on_gaps", 1, "figures that are not those of the file"),
        ("k", 14, "a claim of the certificate does not hold"),
        ("keys", ["nothing"], "cannot be counted in the file"),
    ],
)
def test_figures_of_records_are_counted_again(release, key, to, words):
    folder = release("records")
    certify(folder, setting("shown", key, to=to))
    refused(folder, words)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"k": 14}, "a claim does not hold"),
        ({"k": 4}, "the certificate claims something else than"),
        ({"claim": "Nothing"}, "cannot be read"),
    ],
)
def test_claims_of_the_office_are_proven_again(release, claim, words):
    folder = release("records")
    certify(folder, lambda content: content["claims_made"][0].update(claim), part="internal")
    verify(shutil.copytree(folder / "public", folder.with_name("download")))
    refused(folder, words, office=True)


def test_a_claim_that_needs_the_population_stands_for_no_other(release):
    """What cannot be proven again without the population is compared with what is said of it."""
    folder = release("records")
    certify(folder, setting("claims_made", to=[{"claim": "KMap", "k": 3}]), part="internal")
    refused(folder, "claims something else than", office=True)
    certify(folder, setting("claims_made", to=[{"claim": "KMap", "k": 1}]), part="internal")
    refused(folder, "cannot be read", office=True)


def test_what_was_counted_and_by_whom_is_said(release, monkeypatch):
    folder = release("records")
    line, office = verify(folder, keys=KEYS).lines[-2:]
    assert "counted again in 60 records: 3-anonymity by town, sex" in line
    assert "all claims (1) checked again" in office and "need the population" not in office
    assert office.endswith("fingerprint confirmed")
    monkeypatch.setenv("DISKRET_KEYS", str(folder / "nothing"))
    report = verify(folder)
    assert report.lines[-1].endswith("fingerprint not checked without the key")


def test_released_records_are_the_same_in_both_files(release):
    folder = release("records")
    path = folder / "public" / "microdata.csv"
    head, first, second, *rest = path.read_text("utf-8").splitlines(keepends=True)
    assert first != second
    path.write_text("".join([head, second, first, *rest]), encoding="utf-8")
    certify(folder, lambda content: None)
    refused(folder, r"microdata\.csv and microdata\.parquet differ")


# ── safe files ──────────────────────────────────────────────────────────────────────


def test_deviations_of_safe_files_fit_together(release):
    folder = release("safe")
    certify(folder, lambda content: content["shown"]["by_size_in_file"][0].update(largest=99))
    refused(folder, "tables or deviations that do not fit together")


def test_deviations_of_safe_files_are_those_of_the_file(release):
    folder = release("safe")
    certify(folder, lambda content: content["shown"]["by_size_in_file"][0].update(mean=0.01))
    refused(folder, "documents other deviations", office=True)


def test_the_office_claims_what_the_certificate_says(release):
    folder = release("safe")
    certify(folder, setting("claims_made", to=[]), part="internal")
    refused(folder, "claims something else than the public certificate", office=True)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (setting("shown", "minimum", to=4), "a claim of the certificate does not hold"),
        (lambda content: content["shown"].pop("by_size_in_file"), "cannot be counted in the file"),
        (
            lambda content: content["shown"]["by_size_in_file"][0].update(mean=-0.1),
            "do not fit together",
        ),
        (
            lambda content: content["shown"]["by_size_in_file"][0].update(mean=24.5),
            "do not fit together",
        ),
        (lambda content: content["shown"].update(largest=23), "do not fit together"),
        (
            lambda content: content["shown"]["by_size_in_file"][0].update(cells=1),
            "do not fit together",
        ),
        (lambda content: content["claimed"]["en"].pop(), "its text was changed"),
        (lambda content: content["not_claimed"]["de"].pop(), "its text was changed"),
    ],
)
def test_what_a_safe_file_shows_is_counted_again(release, change, words):
    folder = release("safe")
    certify(folder, change)
    refused(folder, words)


def test_counts_of_the_original_are_those_that_were_kept(release):
    folder = release("safe")
    path = folder / "internal" / "microdata.controlled.parquet"
    cells = pq.read_table(path)
    pq.write_table(cells, path, store_schema=False)
    reseal(folder, KEYS)
    verify(folder, keys=KEYS)
    pq.write_table(cells.slice(1), path, store_schema=False)
    reseal(folder, KEYS)
    refused(folder, "counts of the original are not those that were released", office=True)


def test_tables_are_made_of_variables_of_the_file(release):
    folder = release("safe")
    certify(folder, lambda content: content["shown"]["tables"][""].append(["nothing"]))
    with pytest.raises(VerificationError):
        verify(folder / "public")
