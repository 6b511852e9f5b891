"""From bytes to a header and a body: `fast` for plain headers, `slow` for all others."""
