"""Commands inside a body and programs of a skill: found, filled and handed to the Runner."""
