"""What protection cost: how far protected tables are from the original ones."""
