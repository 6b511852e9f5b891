"""The sixth stage: from a name to instructions, commands, tools and files.

A model loads a skill with the `model_tool`, a user types it (`slash`). Either way its `body` is
filled and put into one of the `wrappers`, and the `ledger` keeps what was loaded. `survival`
decides what a shortened conversation gets back, `loaded_tags` what a model has by its messages.
`resources` reads the other files of a skill, and `dormant` wakes those that wait for a file.
"""
