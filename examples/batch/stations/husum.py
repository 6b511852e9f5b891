"""The gauge at Husum."""

OFFSET = 0.4


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
