"""How many examples a property test tries is said in one place."""

from pathlib import Path

import pytest
from hypothesis import settings
from profiles import examples, scaled

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("profile", "of_60", "of_3"), [("quick", 4, 2), ("ci", 12, 3), ("thorough", 1200, 60)]
)
def test_numbers_follow_the_profile(profile, of_60, of_3):
    before = settings.get_current_profile_name()
    try:
        settings.load_profile(profile)
        assert (scaled(60), examples(3).max_examples) == (of_60, of_3)
        assert settings().deadline is None
    finally:
        settings.load_profile(before)


def test_no_test_has_a_number_of_its_own():
    own = "max" + "_examples="
    found = [path.name for path in TESTS.rglob("*.py") if own in path.read_text("utf-8")]
    assert found == ["profiles.py"]
