"""Joint kinds, one file each behind `JointKind`."""

from .fixed import Fixed
from .free import Free
from .interface import JointKind
from .planar import Planar
from .prismatic import Prismatic
from .revolute import Continuous, Revolute
from .spherical import Spherical

KINDS: dict[str, JointKind] = {
    kind.name: kind for kind in (Fixed(), Revolute(), Continuous(), Prismatic(), Spherical(), Planar(), Free())
}
"""The kinds that can be named by a string."""

__all__ = ["KINDS", "Continuous", "Fixed", "Free", "JointKind", "Planar", "Prismatic", "Revolute", "Spherical"]
