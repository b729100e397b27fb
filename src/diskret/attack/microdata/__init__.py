"""What is claimed of released microdata, and the check of it from the written values."""

from diskret.attack.microdata.certificate import MicrodataCertificate

__all__ = ["MicrodataCertificate"]
