"""Judges skills before they are used: rules over instructions and scripts, and their findings.

A file becomes passages of some kind (`passages`): prose, commands, code, names. Each rule says
which kinds it reads and yields matches (`rule`, collected in `rules`); shell commands are parsed
first (`command_line`), because quotes and pipes decide what they mean. `skill_scan` walks a folder
and makes findings of matches, without those that a comment explains (`suppressions`).
"""
