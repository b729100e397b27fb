"""Releases and a ledger as older code wrote them; they are never made anew."""
