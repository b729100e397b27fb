"""What is claimed of released microdata, and the check of it from the written values."""

from diskret.attack.microdata.certificate import MicrodataCertificate
from diskret.attack.microdata.certify import certify, claims_shown
from diskret.attack.microdata.certify_safe import certify_safe, safe_says

__all__ = ["MicrodataCertificate", "certify", "certify_safe", "claims_shown", "safe_says"]
