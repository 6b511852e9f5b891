"""The gauge at Bremerhaven."""

OFFSET = 0.8


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
