"""The gauge at Emden."""

OFFSET = 0.5


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
