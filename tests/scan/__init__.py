"""The scan of skills."""
