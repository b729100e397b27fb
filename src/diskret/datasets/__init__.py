"""Data to try things on, confidential in no way: made up, or printed in the literature."""

from diskret.datasets.business_register import BusinessRegister, business_register
from diskret.datasets.census import Census, census
from diskret.datasets.country import Country, country
from diskret.datasets.lectures import LECTURES, lecture
from diskret.datasets.survey import Survey, survey

__all__ = [
    "BusinessRegister",
    "Census",
    "Country",
    "LECTURES",
    "Survey",
    "business_register",
    "census",
    "country",
    "lecture",
    "survey",
]
