"""Made-up data to try things on: realistic in shape, confidential in no way."""

from diskret.datasets.business_register import BusinessRegister, business_register
from diskret.datasets.census import Census, census
from diskret.datasets.survey import Survey, survey

__all__ = ["BusinessRegister", "Census", "Survey", "business_register", "census", "survey"]
