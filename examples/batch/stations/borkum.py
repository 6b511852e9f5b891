"""The gauge at Borkum."""

OFFSET = 0.9


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
