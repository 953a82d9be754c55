"""Errors and warnings that name the thing, the value found and the fix."""


class ModelError(ValueError):
    """A model that cannot be built: broken file, impossible number, name that does not exist."""


class ModelWarning(UserWarning):
    """Something in a file that was repaired or is not simulated."""
