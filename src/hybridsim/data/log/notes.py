"""What was found and repaired while a log was read: kept with the result, and said once as a warning."""

import warnings


class DataWarning(UserWarning):
    """Measurements that were repaired, left out, or look wrong; the text says what and where."""


class Notes:
    """Collects sentences about one file; the worrying ones become ONE warning, so that none is lost in a flood."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.worries: list[str] = []

    def say(self, text: str) -> None:
        """Worth knowing, no damage."""
        self.all.append(text)

    def warn(self, text: str) -> None:
        """Damage that was repaired, or numbers that look wrong."""
        self.all.append(text)
        self.worries.append(text)

    def emit(self, source: str, level: int = 3) -> None:
        """The warning, at the place where the user called; nothing where nothing was wrong."""
        if self.worries:
            warnings.warn(f"{source}: " + "; ".join(self.worries), DataWarning, stacklevel=level)


def listed(items, most: int = 5) -> str:
    """The first few of many, for a sentence."""
    items = [str(item) for item in items]
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")
