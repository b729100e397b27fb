"""Files of maps: places with their outlines and what is published of them."""
