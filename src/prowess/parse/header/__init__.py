"""From bytes to a header and a body: `fast` for headers without surprises, `slow` for all others."""
