"""The fourth stage: what can be offered on this machine, and what the model may see of it.

`gate` asks the others about each skill of a scan: `eligibility` (what it requires), `permissions`
(which rules deny it), `visibility` (what it waits for, what hides it). `approvals` turns a decision
to ask into yes or no when a skill is used, and `remedies` says how to get what is missing.
"""
