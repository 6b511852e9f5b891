"""The commands, one per file: each is a function that returns an exit code.

What draws for people (`rich`, and `terminal.tables` with it) is imported inside the functions that
draw: it takes longer to load than a warm scan of a thousand skills, and `--json` needs none of it.
"""
