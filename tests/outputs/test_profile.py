"""Profiles of institutions: bundled ones as published, own ones read with line and remedy."""

import pytest

from diskret.errors import InputError
from diskret.outputs import Profile


def test_acro_as_its_default_file_says():
    acro = Profile.read("acro")
    assert (acro.threshold, acro.freedom, acro.dominance, acro.p_percent) == (10, 10, (2, 90), 10)
    assert acro.reached
    assert acro.group_percent is None
    assert acro.verdict("zero") == "fail"
    assert acro.verdict("negative") == "review"
    assert acro.verdict("missing") == "review"


def test_guidelines():
    rules = Profile.read("guidelines")
    assert (rules.threshold, rules.freedom, rules.dominance) == (10, 10, (1, 50))
    assert rules.group_percent == 90
    assert ".pkl" in rules.suffixes


def test_own_profile(tmp_path):
    file = tmp_path / "office.toml"
    file.write_text(
        'name = "office"\nthreshold = 5\nexcepting = ["head"]\n[verdicts]\nzero = "pass"\n'
        '[wording.threshold]\nde = "Zu wenige."\n',
        encoding="utf-8",
    )
    office = Profile.read(file)
    assert office.threshold == 5
    assert office.verdict("zero") == "pass"
    assert office.excepting == ("head",)
    assert office.wording["threshold"]["de"] == "Zu wenige."
    assert Profile.read(office) is office


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = 'x'\nthreshhold = 5", "line 2: 'threshhold' is no key of a profile; there are "),
        ("\nthreshold = 0", "line 2: threshold= must be a whole number from 1 upwards, not 0"),
        ("dominance = [2, 0.9]", "line 1: dominance= must be the number of contributors"),
        ("dominance = [2]", "line 1: dominance= must be the number of contributors"),
        ("dominance = 'x'", "line 1: dominance= must be the number of contributors"),
        ("dominance = ['a', 'b']", "line 1: dominance= must be the number of contributors"),
        ("[verdicts]\nzeros = 'fail'", "line 1: verdicts= names 'zeros'; there are threshold"),
        ("[verdicts]\nzero = 'no'", "line 1: verdicts= must be 'pass', 'review' or 'fail'"),
        ("forbidden = ['pie']", "line 1: forbidden= names 'pie'; there are frequencies"),
        ("[wording]\nzero = 'x'", "line 1: wording= of 'zero' must name languages"),
        (
            "p_percent = -1",
            "line 1: p_percent= must be a percentage from 1 upwards (5 for 5 %), not -1",
        ),
        ("threshold = ", "not valid TOML"),
    ],
)
def test_bad_profiles_are_named_with_line(tmp_path, text, said):
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        Profile.read(file)
    assert f"{file}" in str(error.value)
    assert said in str(error.value)


def test_no_such_profile():
    with pytest.raises(InputError, match="there is no profile 'sacro'.*'acro', 'guidelines'"):
        Profile.read("sacro")
