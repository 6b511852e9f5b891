"""The gauge at Wilhelmshaven."""

OFFSET = 0.7


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
