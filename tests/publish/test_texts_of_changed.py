"""What a certificate says of changed values is what belongs to the method, and nothing else."""

import json
import shutil

import pytest
from every_family import FAMILIES, KEYS, counts

import diskret as dk
from diskret.attack.said_of_changed import may_say
from diskret.errors import VerificationError
from diskret.publish.verify.folder import verify
from diskret.tables import CHANGES


def randomly(folder):
    return dk.round_table(counts(), base=3, method="random", keys=KEYS, name="firms").write(
        folder, ["csv"], keys=KEYS
    )


def controlled(folder):
    result = dk.round_table(counts(), base=3, method="controlled", keys=KEYS, name="firms")
    return result.write(folder, ["csv"], keys=KEYS)


def small_counts(folder):
    result = dk.round_table(counts(), base=3, method="small_counts", keys=KEYS, name="firms")
    return result.write(folder, ["csv"], keys=KEYS)


MADE = {
    "rounded": FAMILIES["rounded"],
    "perturbed": FAMILIES["perturbed"],
    "random": randomly,
    "controlled": controlled,
    "small counts": small_counts,
}


@pytest.fixture(scope="module", params=MADE)
def written(request, tmp_path_factory):
    return MADE[request.param](tmp_path_factory.mktemp("changed") / "out")


@pytest.fixture
def public(written, tmp_path):
    """Without a page, which shows the same and would have to be written again."""
    folder = shutil.copytree(written / "public", tmp_path / "download")
    for page in folder.glob("*.html"):
        page.unlink()
        change(folder, lambda content, name=page.name: content["files"].pop(name))
    return folder


def change(folder, how):
    (path,) = folder.glob("*.certificate.json")
    content = json.loads(path.read_text("utf-8"))
    how(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def more(content):
    for language in ("en", "de"):
        content["claimed"][language].append("x")


def fewer(content):
    for language in ("en", "de"):
        content["not_claimed"][language].pop(0)


def one_language(content):
    content["claimed"]["en"][0] = content["claimed"]["en"][0].replace("value", "count", 1) + " "


def nothing(content):
    content["claimed"] = {"en": [], "de": []}


@pytest.mark.parametrize("forge", [more, fewer, one_language, nothing])
def test_a_text_of_ones_own_is_refused(public, forge):
    verify(public)
    change(public, forge)
    with pytest.raises(VerificationError, match="does not say what is and is not claimed"):
        verify(public)


def test_figures_are_those_of_the_text(public):
    def drop(content):
        del content["shown"]

    def base(content):
        content["shown"]["base"] = 1

    def additive(content):
        content["shown"]["additive"] = not content["shown"]["additive"]

    (path,) = public.glob("*.certificate.json")
    kept = path.read_bytes()
    if "shown" not in json.loads(kept):
        change(public, lambda content: content.update(shown={"additive": True}))
        with pytest.raises(VerificationError):
            verify(public)
        return
    for forge in (drop, base, additive):
        path.write_bytes(kept)
        change(public, forge)
        with pytest.raises(VerificationError):
            verify(public)


@pytest.mark.parametrize("family", CHANGES)
@pytest.mark.parametrize("shown", [{"base": 5}, {"method": "random"}, {"additive": False}])
def test_no_text_belongs_to_figures_of_no_method(family, shown):
    assert list(may_say(family, shown)) == []


def test_a_rounded_table_has_figures():
    assert list(may_say("rounding", {})) == []
    of = {"method": "random", "base": True, "additive": False}
    assert list(may_say("rounding", of)) == []
    assert list(may_say("rounding", {**of, "base": 1, "additive": True})) == []
    assert len(list(may_say("rounding", {**of, "base": 1}))) == 8
