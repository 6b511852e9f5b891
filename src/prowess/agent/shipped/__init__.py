"""What the skills that ship need beside their instructions: commands and tools in code."""
