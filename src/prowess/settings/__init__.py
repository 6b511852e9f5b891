"""What users set: the settings files of a host read, checked, explained and edited."""
