"""Settings files of every host: read, checked, described and edited."""
