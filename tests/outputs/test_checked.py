"""A verdict is the worst of its findings and says what was checked; never a silent pass."""

import numpy as np
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.outputs import Checked, Finding, Profile, Told
from diskret.outputs.profile import CHECKS, KINDS
from diskret.texts import LANGUAGES, words_in

GUIDELINES = Profile.read("guidelines")
FEW = Finding("threshold", "fail", (("north", "women"),), {"threshold": 10})
NEGATIVE = Finding("negative", "review")


def checked(*findings, profile=GUIDELINES):
    return Checked("frequencies", None, ("threshold", "negative"), findings, profile)


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [((), "pass"), ((NEGATIVE,), "review"), ((NEGATIVE, FEW), "fail"), ((FEW, NEGATIVE), "fail")],
)
def test_verdict_is_the_worst(findings, verdict):
    assert checked(*findings).verdict == verdict


def test_nothing_passes_without_a_check():
    with pytest.raises(InputError, match="no check was made"):
        Checked("frequencies", None, (), (), GUIDELINES)


def test_a_forbidden_kind_never_passes():
    profile = Profile(forbidden=["frequencies"])
    assert checked(profile=profile).verdict == "fail"
    assert [one.check for one in checked(FEW, profile=profile).findings] == [
        "threshold",
        "forbidden",
    ]
    asked = Profile(forbidden=["frequencies"], verdicts={"forbidden": "review"})
    assert checked(profile=asked).verdict == "review"


def test_summary_says_what_was_found_and_what_was_checked():
    assert checked(FEW).summary() == (
        "Table of counts: must not leave as it is.\n"
        "- Fewer than 10 units. Here: north, women.\n"
        "Checked: number of units, negative values."
    )
    assert "Weniger als 10 Einheiten. Hier: north, women." in checked(FEW).summary("de")


def test_many_places_are_counted():
    places = tuple((f"r{number}",) for number in range(8))
    (said,) = checked(Finding("zero", "review", places)).reasons()
    assert said.endswith("Here: r0; r1; r2; r3; r4, and 3 more.")


def test_institution_has_its_own_words():
    own = Profile(wording={"threshold": {"en": "Ask the data service."}})
    assert checked(FEW, profile=own).reasons() == ["Ask the data service. Here: north, women."]
    assert checked(FEW, profile=own).reasons("de")[0].startswith("Weniger als 10")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_check_and_kind_has_words(language):
    words = words_in(language, "outputs")
    for check in CHECKS:
        assert words[f"reason.{check}"]
        assert words[f"short.{check}"]
    for kind in KINDS:
        assert words[f"kind.{kind}"]


def test_told_must_fit_its_records():
    sets = np.array([0, 1, -1], np.int32)
    assert Told(sets, (("a",), ("b",))).rows is None
    with pytest.raises(InputError, match="names="):
        Told(sets, (("a",),))


def test_public_home():
    assert dk.check.Profile is Profile
