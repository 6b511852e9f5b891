"""Installing: sources, archives, git, the lock file, the store."""
