"""`skill://` addresses and the files they stand for."""
