"""What is claimed of released microdata, and the check of it from the written values."""

from diskret.attack.microdata.certificate import MicrodataCertificate
from diskret.attack.microdata.certify import certify, claims_shown

__all__ = ["MicrodataCertificate", "certify", "claims_shown"]
