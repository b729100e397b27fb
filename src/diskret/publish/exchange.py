"""Formats for exchange: what they are called, and how the names of their files end."""

from __future__ import annotations

#: Format → what the names of its files end with, after the name of what they show.
EXCHANGE = {
    "px": ".px",
    "jsonstat": ".jsonstat.json",
    "sdmx1": ".sdmx1.csv",
    "sdmx2": ".sdmx2.csv",
}
