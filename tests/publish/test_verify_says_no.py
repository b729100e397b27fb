"""One change a test, with whatever goes with it made anew: verification says what was changed."""

import json
import shutil
from typing import Any

import pyarrow.parquet as pq
import pytest
from every_family import KEYS, counts
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


def test_the_offices_link_has_a_row_for_each_record(release):
    folder = release("records")
    path = folder / "internal" / "microdata.link.parquet"
    link = pq.read_table(path)
    for wrong in (link.slice(1), link.rename_columns(["line", *link.column_names[1:]])):
        pq.write_table(wrong, path)
        reseal(folder, KEYS)
        with pytest.raises(VerificationError):
            verify(folder, keys=KEYS)


# ── safe files ──────────────────────────────────────────────────────────────────────


def test_deviations_of_safe_files_fit_together(release):
    folder = release("safe")
    certify(folder, lambda content: content["shown"]["by_size"][0].update(largest=99))
    refused(folder, "tables or deviations that do not fit together")


def test_deviations_of_safe_files_are_those_of_the_file(release):
    folder = release("safe")
    certify(folder, lambda content: content["shown"]["by_size"][0].update(mean=0.01))
    refused(folder, "documents other deviations", office=True)


def test_the_office_claims_what_the_certificate_says(release):
    folder = release("safe")
    certify(folder, setting("claims_made", to=[]), part="internal")
    refused(folder, "claims something else than the public certificate", office=True)


def test_tables_are_made_of_variables_of_the_file(release):
    folder = release("safe")
    certify(folder, lambda content: content["shown"]["tables"][""].append(["nothing"]))
    with pytest.raises(VerificationError):
        verify(folder / "public")
