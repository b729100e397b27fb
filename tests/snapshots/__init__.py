"""Releases of every kind, the same in every run: what a rebuild of the shell must leave alone."""
