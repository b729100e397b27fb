"""Persons of a made-up census: households first, then what each person is asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskret.datasets.census_codes import (
    ACTIVITIES,
    AGES,
    BIRTHPLACES,
    COMMUTING,
    EMPLOYMENTS,
    FIELDS,
    HOURS,
    HOUSEHOLD_SIZES,
    INDUSTRIES,
    NATIONALITIES,
    RELIGIONS,
    SCHOOLS,
    TRAININGS,
    TRANSPORT,
    Codes,
    country,
    draw,
    draw_where,
    varied,
)
from diskret.datasets.survey import OCCUPATIONS

#: Households by kind, per mille, in the order of `census_codes.HOUSEHOLDS`.
_KINDS = (335.0, 285.0, 285.0, 65.0, 30.0)
_SINGLE, _COUPLE, _FAMILY, _PARENT, _OTHERS = range(5)
_CHILDREN = (46.0, 40.0, 11.0, 2.5, 0.5)
_CHILD, _PUPIL, _EMPLOYED, _UNEMPLOYED, _PENSIONER, _AT_HOME = range(len(ACTIVITIES))
_OLDEST = len(AGES) - 1


@dataclass(frozen=True, eq=False)
class Households:
    """Households in the order of the file: position in `HOUSEHOLDS`, and number of persons."""

    kind: NDArray[np.int8]
    size: NDArray[np.int8]


def households(rng: np.random.Generator, n: int) -> Households:
    """Households of together exactly `n` persons; those who are left over live alone."""
    drawn = n // 2 + 1
    kind = draw(rng, np.array([_KINDS]), np.zeros(drawn, dtype=np.int8))
    more = draw(rng, np.array([_CHILDREN]), np.zeros(drawn, dtype=np.int8)) + 1
    least = np.array([1, 2, 2, 1, 1], dtype=np.int16)
    size = least[kind] + np.where(kind >= _FAMILY, more, 0)
    kept = int(np.searchsorted(np.cumsum(size), n, side="right"))
    alone = n - int(size[:kept].sum())
    return Households(
        np.concatenate([kind[:kept], np.zeros(alone)]).astype(np.int8),
        np.concatenate([size[:kept], np.ones(alone)]).astype(np.int8),
    )


def answers(
    rng: np.random.Generator, made: Households, area: NDArray[np.integer], areas: int
) -> dict[str, Codes]:
    """Every variable of the persons but the region, as codes.

    Religions and industries differ by `area`, the kind of area of each household, one of `areas`.
    """
    of = np.repeat(np.arange(len(made.size), dtype=np.int32), made.size)
    begin = np.repeat(np.cumsum(made.size, dtype=np.int64) - made.size, made.size)
    place = (np.arange(len(of)) - begin).astype(np.int8)
    kind, around = made.kind[of], area.astype(np.int16)[of]
    partner = (place == 1) & ((kind == _COUPLE) | (kind == _FAMILY))
    child = (place > 0) & (kind >= _FAMILY) & (kind <= _PARENT) & ~partner

    age = _ages(rng, made.kind, of, partner, child)
    sex = rng.integers(0, 2, len(of), dtype=np.int16)
    sex = np.where(partner, 1 - sex[begin], sex)
    decade = age // 10
    marital = _marital(rng, made.kind, of, age, sex, child)

    land = country(1)
    share = varied(land, [row[2] for row in NATIONALITIES], areas, 0.6)
    nationality = _mostly(rng, 0.05, draw(rng, share, around), begin)
    foreign = (nationality > 0).astype(np.int16)
    share = varied(land, list(RELIGIONS.values()), 2 * areas, 1.3)
    share[1::2, 3:5] *= 12
    religion = _mostly(rng, 0.12, draw(rng, share, around * 2 + foreign), begin)
    share = varied(land, list(BIRTHPLACES.values()), 6, 0.4)
    share[3:, 2] *= 200
    birthplace = draw(rng, share, foreign * 3 + np.minimum(decade // 3, 2))

    activity = _activities(rng, age, sex)
    grown = activity != _CHILD
    share = varied(land, list(SCHOOLS.values()), 20, 0.7)
    share[10:, 1] *= 4
    share[1::2, -1] *= 200
    school = draw_where(rng, grown, share, decade * 2 + foreign)
    share = varied(land, list(TRAININGS.values()), 14, 0.8)
    share[:10, 4:] *= 0.03  # universities want a higher degree
    training = draw_where(rng, grown & (activity != _PUPIL), share, school * 2 + sex)
    share = varied(land, list(FIELDS.values()), 14, 1.8)
    field = draw_where(rng, (training > 1) & (age < 65), share, training * 2 + sex)

    employed = activity == _EMPLOYED
    share = varied(land, list(EMPLOYMENTS.values()), 28, 1.2)
    employment = draw_where(rng, employed, share, (training * 2 + sex) * 2 + foreign)
    share = varied(land, [row[3] for row in INDUSTRIES], 14 * areas, 1.4)
    industry = draw_where(rng, employed, share, (training * 2 + sex) * areas + around)
    share = varied(land, [row[2] for row in OCCUPATIONS], 2 * len(INDUSTRIES) + 2, 2.8)
    occupation = draw_where(rng, employed, share, industry * 2 + sex)
    share = varied(land, list(HOURS.values()), 10, 1.2)
    hours = draw_where(rng, employed, share, employment * 2 + sex)
    second = draw_where(rng, employed, np.array([[0.97, 0.03]]), np.zeros(len(of), np.int8))
    share = varied(land, list(COMMUTING.values()), 5 * areas, 0.8)
    commuting = draw_where(rng, employed, share, employment * areas + around)
    share = varied(land, list(TRANSPORT.values()), 6, 1.0)
    transport = draw_where(rng, employed, share, commuting * 2 + sex)
    return {
        "age": age,
        "sex": sex,
        "marital": marital,
        "religion": religion,
        "nationality": nationality,
        "birthplace": birthplace,
        "household_type": kind.astype(np.int16),
        "household_size": np.minimum(made.size[of], len(HOUSEHOLD_SIZES)).astype(np.int16) - 1,
        "reference": (place > 0).astype(np.int16),
        "activity": activity,
        "school": school,
        "training": training,
        "field": field,
        "employment": employment,
        "occupation": occupation,
        "industry": industry,
        "hours": hours,
        "second_job": np.maximum(second, 1) - 1,
        "commuting": commuting,
        "transport": transport,
    }


def _mostly(rng: np.random.Generator, own: float, drawn: Codes, begin: NDArray[np.int64]) -> Codes:
    """What the first person of the household has, but for a share `own` of the persons."""
    return np.where(rng.random(len(drawn)) < own, drawn, drawn[begin])


def _ages(
    rng: np.random.Generator,
    kind: NDArray[np.int8],
    of: NDArray[np.int32],
    partner: NDArray[np.bool_],
    child: NDArray[np.bool_],
) -> Codes:
    """Adults by the kind of household, partners of similar age, children 18 to 44 years younger."""
    middle, spread = np.array([54, 57, 41, 41, 38]), np.array([21, 15, 8, 9, 16])
    latest = np.array([_OLDEST, _OLDEST, 62, 62, _OLDEST])
    first = middle[kind] + spread[kind] * rng.standard_normal(len(kind))
    first = np.clip(np.rint(first), 18, latest[kind]).astype(np.int16)
    age = first[of]
    near = age[partner] + np.rint(3.5 * rng.standard_normal(int(partner.sum())))
    age[partner] = np.clip(near, 18, _OLDEST)
    # others of the household, who are neither couple nor child, are of any age
    later = np.flatnonzero(kind[of] == _OTHERS)
    shift = np.rint(9 * rng.standard_normal(len(later)))
    age[later] = np.clip(age[later] + shift, 18, _OLDEST)
    younger = age[child] - rng.triangular(18, 27, 44, int(child.sum()))
    age[child] = np.clip(np.rint(younger), 0, 44)
    return age


def _marital(
    rng: np.random.Generator,
    kind: NDArray[np.int8],
    of: NDArray[np.int32],
    age: Codes,
    sex: Codes,
    child: NDArray[np.bool_],
) -> Codes:
    """Couples are married both or neither; the old are widowed more often."""
    single, widowed, divorced = 0, 2, 3
    share = np.zeros((20, 4))
    years = np.arange(10)
    for s in (0, 1):
        share[s::2, single] = np.maximum(0.04, 1.1 - 0.16 * years)
        share[s::2, widowed] = 0.0004 * np.exp((0.9 - 0.12 * s) * years)
        share[s::2, divorced] = np.where(years < 2, 0, 0.25)
    share[:4, widowed] = 0
    found = draw(rng, share, np.minimum(age // 10, 9) * 2 + sex)
    together = (kind == _COUPLE) | (kind == _FAMILY)
    married = together & (rng.random(len(kind)) < 0.9)
    found[married[of] & ~child] = 1
    found[child & (age < 30)] = single
    return found


def _activities(rng: np.random.Generator, age: Codes, sex: Codes) -> Codes:
    """Children below 15, then school, work, the home and a pension."""
    share = np.zeros((2 * 9, len(ACTIVITIES)))
    #                 child pupil work unemployed pension home
    share[0:2] = [1, 0, 0, 0, 0, 0]
    share[2:4] = [0, 75, 22, 2.5, 0, 0.5]
    share[4:6] = [0, 20, 67, 6, 0.1, 7]
    share[6:8] = [0, 2, 80, 5, 0.5, 12.5]
    share[8:10] = [0, 0.1, 82, 5, 2, 11]
    share[10:12] = [0, 0.02, 77, 6, 5, 12]
    share[12:14] = [0, 0, 40, 5, 40, 15]
    share[14:16] = [0, 0, 4, 0, 90, 6]
    share[16:18] = [0, 0, 0.4, 0, 97, 2.6]
    share[1::2, _AT_HOME] *= 0.04
    stage = np.digitize(age, [15, 20, 28, 40, 50, 58, 64, 72]) * 2
    return draw(rng, share, stage + sex)
