"""One kind of error, whatever is wrong with a file: a file from a stranger may be wrong in any way."""

ANOTHER_COPY = "the file is damaged, so save the model again or fetch another copy"


class HybridFileError(ValueError):
    """A hybrid model that cannot be saved or loaded; the message names the file, what is wrong and the fix."""

    what: str = ""
    """What is wrong, without file and fix."""


def damaged(what: str, fix: str = ANOTHER_COPY) -> HybridFileError:
    """The error for one thing that is wrong in a file, without the file's name."""
    error = HybridFileError(f"{what}; {fix}")
    error.what = what
    return error


def briefly(problem: Exception) -> str:
    """The message of an error from elsewhere, on one line."""
    text = " ".join(str(problem).split()) or type(problem).__name__
    return text if len(text) <= 200 else f"{text[:200]}..."
