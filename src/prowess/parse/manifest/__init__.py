"""From the fields of a header to a manifest, a name and a description, under a host's rules."""
