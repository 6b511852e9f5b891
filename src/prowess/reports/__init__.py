"""What every surface shows of skills: values made from a snapshot, with their JSON shape."""
