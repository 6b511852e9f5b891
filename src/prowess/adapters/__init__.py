"""Skills in the shapes of other libraries: one module for each, with the library's extra.

Every module gives the same four things: the instructions that list the skills, the tool that loads
them, word of each skill that was loaded (`on_activation`), and what to give back after the
conversation was shortened (`compact_skills`).
"""
