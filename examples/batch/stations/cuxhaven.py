"""The gauge at Cuxhaven."""

OFFSET = 0.2


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
