"""How many examples property tests try: one number a test, scaled by the profile of the run.

``make test`` runs the profile ``quick``, continuous integration ``ci``, ``make test-all``
``thorough``; ``--hypothesis-profile=`` names another one. The first two always try the same
examples, so a run is repeatable.
"""

from hypothesis import settings

#: What plain pytest runs.
USUAL = "quick"
#: Examples of a test that says nothing else; `examples` are those of ``ci``.
_CI = 100
_QUICK = 20
_THOROUGH = 2000

settings.register_profile(USUAL, derandomize=True, max_examples=_QUICK, deadline=None)
settings.register_profile("ci", derandomize=True, max_examples=_CI, deadline=None)
settings.register_profile("thorough", max_examples=_THOROUGH, deadline=None)


def scaled(count: int) -> int:
    """As many cases as this profile tries where continuous integration tries `count`."""
    return max(count * settings().max_examples // _CI, min(count, 4))


def examples(count: int, **others) -> settings:
    """Settings of a property test that tries so many examples in continuous integration.

    Elsewhere it tries as many more or fewer as the profile says, at least four.
    """
    return settings(max_examples=scaled(count), **others)
