"""The gauge at Pellworm."""

OFFSET = 1.2


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
