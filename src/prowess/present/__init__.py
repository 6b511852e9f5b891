"""The fifth stage: what the model is shown of the skills, and within which budget."""
