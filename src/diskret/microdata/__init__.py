"""Methods that protect microdata: coded variables in, changed ones out."""
