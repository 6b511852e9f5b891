"""Settings files edited in place, every other byte kept."""
