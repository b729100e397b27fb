"""The verbs on microdata: roles, risk, protection, release."""
