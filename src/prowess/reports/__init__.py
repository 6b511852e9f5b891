"""What every surface shows of skills: values made from a scan, each with its JSON shape."""
