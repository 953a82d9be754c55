"""Named variables: the places of the computation where a network can be put.

Engine code marks a variable by `tau = named("joint.force", tau)`. The default marks nothing: it returns the
value itself, so a model without networks traces to the same program as if there were no marks.
"""

from typing import Protocol, runtime_checkable

from ..spatial import Array


@runtime_checkable
class Named(Protocol):
    """What may be put at every mark."""

    def __call__(self, name: str, value: Array) -> Array: ...


def unmarked(name: str, value: Array) -> Array:
    """The mark that does nothing."""
    return value
