"""The gauge at Helgoland."""

OFFSET = 0.3


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
