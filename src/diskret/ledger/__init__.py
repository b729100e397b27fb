"""The ledger: what was published, and what new tables must not undo."""
