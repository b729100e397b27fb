"""Made-up data to try things on: realistic in shape, confidential in no way."""

from diskret.datasets.business_register import BusinessRegister, business_register

__all__ = ["BusinessRegister", "business_register"]
