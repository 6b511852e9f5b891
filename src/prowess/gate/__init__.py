"""The fourth stage: what can be offered on this machine, and what the model may see of it."""
