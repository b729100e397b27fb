"""Files of results whose records are not at hand: what they hold, and what is hidden in them."""
