"""Edit settings files in place: comments, order and every other byte stay as they are.

There are many ways to write the same settings, so an editor here proposes edits, parses each, and
takes the first that says exactly what was asked. If none does, nothing is written.
"""
