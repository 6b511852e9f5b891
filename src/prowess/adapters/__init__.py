"""Skills for other agent libraries: one module each, which needs the extra of that name.

Every module has the same four things: the instructions that list the skills, the tool that loads
them, a callback for each loaded skill (`on_activation`), and the messages that give loaded skills
back after the conversation was shortened (`compact_skills`).
"""
