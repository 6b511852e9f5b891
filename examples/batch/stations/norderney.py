"""The gauge at Norderney."""

OFFSET = 0.6


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
