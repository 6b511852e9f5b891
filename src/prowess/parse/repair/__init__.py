"""Headers that are not valid YAML: what is wrong with them, and what their author meant."""
