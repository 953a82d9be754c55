"""The model: what bodies and joints there are, and every number that describes them."""

from .build import build, build_spec
from .contacts import Contacts, Limits
from .errors import ModelError, ModelWarning
from .geometry import SHAPES, Geometry
from .grid import contact_grid
from .joints import KINDS, Continuous, Fixed, Free, JointKind, Planar, Prismatic, Revolute, Spherical
from .model import Actuators, Joints, Links, Model
from .pairs import TOUCHING, default_numbers, with_contacts
from .solids import chain, free_body, ground, solid
from .spec import WORLD, Actuator, Geom, Joint, Link, Mimic, Spec
from .state import State
from .topology import Topology
from .world import prefixed, world

__all__ = [
    "KINDS",
    "SHAPES",
    "TOUCHING",
    "WORLD",
    "Actuator",
    "Actuators",
    "Contacts",
    "Continuous",
    "Fixed",
    "Free",
    "Geom",
    "Geometry",
    "Joint",
    "JointKind",
    "Joints",
    "Limits",
    "Link",
    "Links",
    "Mimic",
    "Model",
    "ModelError",
    "ModelWarning",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spec",
    "Spherical",
    "State",
    "Topology",
    "build",
    "build_spec",
    "chain",
    "contact_grid",
    "default_numbers",
    "free_body",
    "ground",
    "prefixed",
    "solid",
    "with_contacts",
    "world",
]
