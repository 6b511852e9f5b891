"""Skills that wait for a file, and what wakes them."""
