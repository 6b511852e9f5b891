"""Heights above chart datum."""


def height(metres: float) -> float:
    return int(metres)
