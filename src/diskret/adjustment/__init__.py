"""Tables adjusted to add up, or so that sensitive cells are far enough away."""
