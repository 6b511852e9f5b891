"""The gauge at Sylt."""

OFFSET = 1.0


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
