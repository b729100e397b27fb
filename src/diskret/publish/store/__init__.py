"""What was published, in a database that remembers everything and forgets nothing."""
