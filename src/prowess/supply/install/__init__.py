"""Install skills: a source is parsed, fetched, planned and applied, and noted in the lock file."""
