"""How many examples property tests try: one number a test, scaled by the profile of the run.

``make test`` runs the profile ``quick``, continuous integration ``ci``, ``make test-all``
``thorough``; ``--hypothesis-profile=`` names another one. The first two always try the same
examples: they show that nothing known broke. What is not known is looked for by the last one.
"""

from collections.abc import Container, Iterable
from typing import Any

import pytest
from hypothesis import settings

#: What plain pytest runs.
USUAL = "quick"
#: Examples of a test that says nothing else.
_EXAMPLES = {"quick": 8, "ci": 20, "thorough": 2000}
#: A test names its number for a profile of so many.
_NAMED = 100

for name, most in _EXAMPLES.items():
    settings.register_profile(
        name, derandomize=name != "thorough", max_examples=most, deadline=None
    )


def scaled(count: int) -> int:
    """As many cases as this profile tries of a test that names `count`, though never too few.

    At least a quarter of what a test has that names nothing: two in quick runs, five in others.
    """
    usual = settings().max_examples
    return max(count * usual // _NAMED, min(count, usual // 4))


def examples(count: int, **others) -> settings:
    """Settings of a property test that names so many examples."""
    return settings(max_examples=scaled(count), **others)


def some_quick(cases: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """Parameters of a test, of which all but a few are `long`: they show the same again."""
    return [one if one in quick else pytest.param(one, marks=pytest.mark.long) for one in cases]
