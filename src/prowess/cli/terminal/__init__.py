"""What commands print with: tables, prompts, progress, errors."""
