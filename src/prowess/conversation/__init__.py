"""One conversation of an agent: what is loaded into it, typed in it, woken in it, and what must
survive in it.
"""
