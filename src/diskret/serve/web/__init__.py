"""The service over HTTP; needs the extra ``web``."""
