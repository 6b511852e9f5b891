"""From bytes to a header and a body."""
