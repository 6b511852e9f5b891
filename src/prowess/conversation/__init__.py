"""One conversation of an agent: the skills loaded into it, typed in it and woken in it."""
