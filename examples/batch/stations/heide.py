"""The gauge at Heide."""

OFFSET = 1.3


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
