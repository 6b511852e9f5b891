"""The gauge at Amrum."""

OFFSET = 1.1


def get_level(reading):
    """The water level in metres above chart datum."""
    return reading - OFFSET
