"""A conversation at the terminal: the line, its keys, completion, approvals, local commands."""
