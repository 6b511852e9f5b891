"""Commands that a user types: their names, what was typed, what becomes of it.

`commands` names them once per scan, `parser` says what a text means, and then either `messages`
makes the message for the model or `dispatch` calls a tool in its place.
"""
