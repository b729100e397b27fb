"""What a made-up census asks: categories with rough shares, their coarser levels, and draws."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.datasets.survey import NONE, OCCUPATIONS
from diskret.hierarchy import Hierarchy

#: The answer of those who are not asked a question.
NOT_ASKED = "not asked"

SEXES = ("female", "male")
MARITAL = ("single", "married", "widowed", "divorced")
RELIGIONS = {
    "Protestant": 400.0,
    "Catholic": 430.0,
    "none": 125.0,
    "Islam": 30.0,
    "Orthodox": 11.0,
    "Protestant free church": 3.0,
    "Judaism": 0.6,
    "other": 0.4,
}
#: Nationality, citizenship above it, persons per mille.
NATIONALITIES = (
    ("German", "German", 930.0),
    ("Turkish", "foreign", 23.0),
    ("Italian", "foreign", 12.0),
    ("Yugoslav", "foreign", 10.0),
    ("Greek", "foreign", 6.0),
    ("Polish", "foreign", 4.0),
    ("Spanish", "foreign", 3.0),
    ("Austrian", "foreign", 2.8),
    ("Dutch", "foreign", 2.0),
    ("Portuguese", "foreign", 1.6),
    ("British", "foreign", 1.3),
    ("American", "foreign", 1.1),
    ("French", "foreign", 1.0),
    ("Iranian", "foreign", 0.7),
    ("Vietnamese", "foreign", 0.5),
    ("Moroccan", "foreign", 0.4),
    ("Swiss", "foreign", 0.3),
    ("Indian", "foreign", 0.2),
    ("Tunisian", "foreign", 0.15),
    ("Swedish", "foreign", 0.1),
    ("Ghanaian", "foreign", 0.08),
    ("Chilean", "foreign", 0.05),
    ("Icelandic", "foreign", 0.01),
    ("stateless", "foreign", 0.01),
)
BIRTHPLACES = {"this state": 860.0, "other state": 130.0, "abroad": 10.0}
HOUSEHOLDS = ("one person", "couple", "couple with children", "single parent", "others")
HOUSEHOLD_SIZES = ("1", "2", "3", "4", "5", "6", "7+")
ACTIVITIES = ("child", "pupil or student", "employed", "unemployed", "pensioner", "at home")
SCHOOLS = {
    "none": 18.0,
    "lower": 500.0,
    "middle": 270.0,
    "polytechnic": 40.0,
    "higher": 170.0,
    "foreign": 2.0,
}
TRAININGS = {
    "none": 270.0,
    "apprenticeship": 520.0,
    "technical school": 90.0,
    "polytechnic": 40.0,
    "university": 70.0,
    "doctorate": 10.0,
}
FIELDS = {
    "metal": 220.0,
    "commerce": 300.0,
    "construction": 130.0,
    "health": 90.0,
    "teaching": 60.0,
    "food": 50.0,
    "engineering": 45.0,
    "textiles": 30.0,
    "law": 20.0,
    "agriculture": 18.0,
    "natural sciences": 14.0,
    "medicine": 10.0,
    "arts": 7.0,
    "chemistry": 3.0,
    "shipping": 1.2,
    "theology": 0.8,
    "mining": 0.4,
    "forestry": 0.2,
}
EMPLOYMENTS = {
    "salaried": 470.0,
    "wage earner": 350.0,
    "civil servant": 90.0,
    "self-employed": 80.0,
}
#: Division, sector above it, label, employed per mille.
INDUSTRIES = (
    ("01", "primary", "Agriculture", 28.0),
    ("02", "primary", "Forestry", 2.0),
    ("03", "primary", "Fishing", 0.2),
    ("05", "production", "Mining", 6.0),
    ("10", "production", "Food products", 30.0),
    ("13", "production", "Textiles", 8.0),
    ("16", "production", "Wood products", 7.0),
    ("20", "production", "Chemicals", 22.0),
    ("22", "production", "Rubber and plastic", 10.0),
    ("25", "production", "Metal products", 45.0),
    ("26", "production", "Electronics", 18.0),
    ("28", "production", "Machinery", 50.0),
    ("29", "production", "Motor vehicles", 40.0),
    ("35", "production", "Energy", 8.0),
    ("36", "production", "Water, waste", 4.0),
    ("41", "production", "Construction", 75.0),
    ("45", "services", "Motor trade", 22.0),
    ("46", "services", "Wholesale trade", 50.0),
    ("47", "services", "Retail trade", 95.0),
    ("49", "services", "Land transport", 35.0),
    ("50", "services", "Water transport", 0.6),
    ("51", "services", "Air transport", 1.5),
    ("53", "services", "Post", 18.0),
    ("55", "services", "Accommodation", 35.0),
    ("62", "services", "Information services", 25.0),
    ("64", "services", "Banks", 30.0),
    ("65", "services", "Insurance", 10.0),
    ("69", "services", "Legal advice, accounting", 22.0),
    ("84", "services", "Public administration", 85.0),
    ("85", "services", "Education", 65.0),
    ("86", "services", "Health", 110.0),
    ("90", "services", "Arts", 6.0),
    ("97", "services", "Private households", 2.0),
    ("99", "services", "International bodies", 0.1),
)
HOURS = {"full time": 860.0, "part time": 140.0}
SECOND_JOBS = ("no", "yes")
COMMUTING = {"in the municipality": 640.0, "elsewhere": 360.0}
TRANSPORT = {"car": 650.0, "on foot or bicycle": 200.0, "public transport": 150.0}

AGES = tuple(f"{age:02d}" for age in range(96))
#: Life stage and the five-year groups of age in it.
LIFE_STAGES = {
    "under 15": ("00-04", "05-09", "10-14"),
    "15 to 64": (
        *("15-19", "20-24", "25-29", "30-34", "35-39"),
        *("40-44", "45-49", "50-54", "55-59", "60-64"),
    ),
    "65 or older": ("65-69", "70-74", "75-79", "80-84", "85-89", "90-94", "95+"),
}
AGE_GROUPS = tuple(group for groups in LIFE_STAGES.values() for group in groups)

#: Years of construction, period above them, buildings per mille.
YEARS = (
    ("before 1870", "before 1919", 60.0),
    ("1870-1899", "before 1919", 55.0),
    ("1900-1918", "before 1919", 70.0),
    ("1919-1932", "1919-1948", 70.0),
    ("1933-1948", "1919-1948", 60.0),
    ("1949-1957", "1949-1978", 150.0),
    ("1958-1968", "1949-1978", 230.0),
    ("1969-1978", "1949-1978", 190.0),
    ("1979-1984", "1979 or later", 80.0),
    ("1985", "1979 or later", 14.0),
    ("1986", "1979 or later", 12.0),
    ("1987", "1979 or later", 2.0),
)
#: Size of the building in dwellings, type above it, buildings per mille, dwellings in it.
BUILDINGS = (
    ("1 dwelling", "house", 620.0, (1, 2)),
    ("2 dwellings", "house", 190.0, (2, 3)),
    ("3-6 dwellings", "block", 110.0, (3, 7)),
    ("7-12 dwellings", "block", 62.0, (7, 13)),
    ("13-20 dwellings", "block", 14.0, (13, 21)),
    ("21 dwellings or more", "block", 4.0, (21, 60)),
)
#: Heating, kind above it, buildings per mille.
HEATINGS = (
    ("central, oil", "central", 430.0),
    ("central, gas", "central", 250.0),
    ("central, coal", "central", 20.0),
    ("central, electric", "central", 4.0),
    ("district heating", "central", 60.0),
    ("single storey, gas", "central", 80.0),
    ("stoves, oil", "stoves", 60.0),
    ("stoves, coal or wood", "stoves", 65.0),
    ("stoves, electric", "stoves", 30.0),
    ("heat pump", "central", 0.8),
    ("none", "stoves", 0.2),
)
#: Bath and toilet, equipment above it, dwellings per mille.
BATHS = (
    ("bath and toilet", "full", 955.0),
    ("toilet only", "partial", 28.0),
    ("bath only", "partial", 3.0),
    ("shared", "partial", 12.0),
    ("none", "partial", 2.0),
)
#: Rooms, size above them, dwellings per mille.
ROOMS = (
    ("1", "1 or 2", 25.0),
    ("2", "1 or 2", 70.0),
    ("3", "3 or 4", 230.0),
    ("4", "3 or 4", 310.0),
    ("5", "5 or more", 190.0),
    ("6", "5 or more", 100.0),
    ("7", "5 or more", 45.0),
    ("8", "5 or more", 20.0),
    ("9+", "5 or more", 10.0),
)
#: Tenure, occupancy above it, dwellings per mille.
TENURES = (
    ("rented", "occupied", 560.0),
    ("owned", "occupied", 400.0),
    ("rented from employer", "occupied", 8.0),
    ("free of charge", "occupied", 4.0),
    ("vacant", "vacant", 0.0),
)


def above(rows: tuple[tuple[str, str, *tuple[object, ...]], ...]) -> dict[str, str]:
    """Code → the code above it, of rows that begin with the two."""
    return {row[0]: row[1] for row in rows}


OCCUPATION_GROUPS = {NONE: NONE} | {row[0]: row[0][0] for row in OCCUPATIONS}
INDUSTRY_SECTORS = {NONE: NOT_ASKED} | above(INDUSTRIES)
STAGE_OF_GROUP = {group: stage for stage, groups in LIFE_STAGES.items() for group in groups}
GROUP_OF_AGE = {age: AGE_GROUPS[int(age) // 5] for age in AGES}


def tree(levels: Iterable[Mapping[str, str]], labels: Mapping[str, str]) -> Hierarchy:
    """Code tree of mappings from the finest level upwards, each code → the code above it."""
    upwards = list(levels)
    parent: dict[str, str | None] = dict.fromkeys(upwards[-1].values())
    for level in reversed(upwards):
        parent |= {code: above for code, above in level.items() if code not in parent}
    made = Hierarchy.from_parents({"code": list(parent), "parent": list(parent.values())})
    return made.with_labels(labels) if labels else made


def industry_labels() -> dict[str, str]:
    """What the codes of industries stand for."""
    return {NONE: "No industry"} | {row[0]: row[2] for row in INDUSTRIES}


#: A variable: its codes, and its coarser levels with the code above each code.
Variable = tuple[Sequence[str], Mapping[str, Mapping[str, str]]]


def _asked(names: Iterable[str]) -> Variable:
    return (NOT_ASKED, *names), {}


PERSON_VARIABLES: dict[str, Variable] = {
    "age": (AGES, {"age_group": GROUP_OF_AGE, "life_stage": STAGE_OF_GROUP}),
    "sex": (SEXES, {}),
    "marital": (MARITAL, {}),
    "religion": (tuple(RELIGIONS), {}),
    "nationality": (tuple(row[0] for row in NATIONALITIES), {"citizenship": above(NATIONALITIES)}),
    "birthplace": (tuple(BIRTHPLACES), {}),
    "household_type": (HOUSEHOLDS, {}),
    "household_size": (HOUSEHOLD_SIZES, {}),
    "reference": (("reference person", "other member"), {}),
    "activity": (ACTIVITIES, {}),
    "school": _asked(SCHOOLS),
    "training": _asked(TRAININGS),
    "field": _asked(FIELDS),
    "employment": _asked(EMPLOYMENTS),
    "occupation": (tuple(OCCUPATION_GROUPS), {"occupation_group": OCCUPATION_GROUPS}),
    "industry": (tuple(INDUSTRY_SECTORS), {"sector": INDUSTRY_SECTORS}),
    "hours": _asked(HOURS),
    "second_job": (SECOND_JOBS, {}),
    "commuting": _asked(COMMUTING),
    "transport": _asked(TRANSPORT),
}
DWELLING_VARIABLES: dict[str, Variable] = {
    "year": (tuple(row[0] for row in YEARS), {"period": above(YEARS)}),
    "building_size": (tuple(row[0] for row in BUILDINGS), {"building_type": above(BUILDINGS)}),
    "heating": (tuple(row[0] for row in HEATINGS), {"heating_kind": above(HEATINGS)}),
    "bath": (tuple(row[0] for row in BATHS), {"equipment": above(BATHS)}),
    "rooms": (tuple(row[0] for row in ROOMS), {"rooms_group": above(ROOMS)}),
    "tenure": (tuple(row[0] for row in TENURES), {"occupancy": above(TENURES)}),
}
#: Variables of whole buildings.
BUILDING_VARIABLES = ("municipality", "year", "building_size", "heating")


Codes = NDArray[np.int16]
#: Records drawn at a time, so that little memory is needed beside the codes.
SLICE = 1 << 19


def country(part: int) -> np.random.Generator:
    """Source of what is the same for every seed: how groups and places differ."""
    return np.random.Generator(np.random.PCG64([4, part]))


def varied(
    land: np.random.Generator, shares: Sequence[float], rows: int, strength: float
) -> NDArray[np.float64]:
    """Shares that differ between `rows` groups, ``(rows, len(shares))``: log-normal factors."""
    base = np.asarray(shares, dtype=float)
    return base * np.exp(strength * land.standard_normal((rows, len(base))))


def draw(rng: np.random.Generator, shares: NDArray[np.float64], key: NDArray[np.integer]) -> Codes:
    """One code for each record, with the shares in row ``key`` of `shares`."""
    rows, codes = shares.shape
    total = shares.sum(axis=1, keepdims=True)
    bounds = np.cumsum(shares / total, axis=1) + np.arange(rows)[:, None]
    bounds[:, -1] = np.arange(rows) + 1
    flat = bounds.ravel()
    drawn = np.empty(len(key), dtype=np.int16)
    for begin in range(0, len(key), SLICE):
        part = key[begin : begin + SLICE].astype(np.int64)
        found = np.searchsorted(flat, part + rng.random(len(part)), side="right")
        # a draw next to 1 may be rounded up into the next row
        drawn[begin : begin + SLICE] = np.minimum(found - part * codes, codes - 1)
    return drawn


def draw_where(
    rng: np.random.Generator,
    asked: NDArray[np.bool_],
    shares: NDArray[np.float64],
    key: NDArray[np.integer],
) -> Codes:
    """As `draw` for those who are asked, as codes from 1 on; 0 for the others."""
    codes = np.zeros(len(asked), dtype=np.int16)
    codes[asked] = draw(rng, shares, key[asked]) + 1
    return codes


def text(names: Sequence[str], codes: Codes) -> pa.DictionaryArray:
    """Dictionary-encoded text; a byte for each record where the names are few."""
    kind = np.int8 if len(names) <= 127 else np.int16 if len(names) <= 32767 else np.int32
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(kind)), pa.array(list(names), pa.string())
    )


def coarser(
    names: Sequence[str], above: Mapping[str, str], codes: Codes
) -> tuple[list[str], Codes]:
    """Names of the coarser level in order of appearance, and each record's code in it."""
    upper = list(dict.fromkeys(above[name] for name in names))
    place = {name: i for i, name in enumerate(upper)}
    lookup = np.array([place[above[name]] for name in names], dtype=np.int16)
    return upper, lookup[codes]
