"""Rounding: deterministic, random by key, controlled, and of small counts only."""
