"""Settings files read: keys mapped to settings, values checked, limits of a project applied."""
