"""From the values of a settings file to settings."""
