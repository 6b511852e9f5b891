"""Skills for other agent libraries: one module each, which needs the extra of that name.

Every module has the same things: the instructions that list the skills, the tools that load, read
and find them, a callback for each loaded skill (`on_activation`), what a model has by its messages
(`list_loaded_skills`), and what to give back after they were shortened (`compact_skills`).
"""
