"""Made-up data to try things on: realistic in shape, confidential in no way."""

from diskret.datasets.business_register import BusinessRegister, business_register
from diskret.datasets.survey import Survey, survey

__all__ = ["BusinessRegister", "Survey", "business_register", "survey"]
