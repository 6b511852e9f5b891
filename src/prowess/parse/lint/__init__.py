"""What authors should know about a skill: strict checks of its header, its body and its files."""
