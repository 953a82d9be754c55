"""The model: what bodies and joints there are, and every number that describes them."""

from .augmentation import Augmentation
from .build import build, build_spec
from .contacts import Contacts, Limits
from .errors import ModelError, ModelWarning
from .geometry import SHAPES, Geometry
from .grid import contact_grid
from .joints import KINDS, Continuous, Fixed, Free, JointKind, Planar, Prismatic, Revolute, Spherical
from .model import Actuators, Joints, Links, Model
from .names import Marks, Named, Recording, as_marks, unmarked
from .outline import outline_prisms
from .pairs import TOUCHING, carrier, default_numbers, mechanism_of, pairs_left_out, with_contacts
from .prescribe import prescribed
from .prescribed_motion import PrescribedMotion
from .solids import chain, free_body, ground, solid
from .spec import WORLD, Actuator, Geom, Joint, Link, Mimic, Spec
from .state import Memory, State
from .topology import Topology
from .variables import VARIABLES, Axis, Kind, Variable
from .world import prefixed, world

__all__ = [
    "KINDS",
    "SHAPES",
    "TOUCHING",
    "VARIABLES",
    "WORLD",
    "Actuator",
    "Actuators",
    "Augmentation",
    "Axis",
    "Contacts",
    "Continuous",
    "Fixed",
    "Free",
    "Geom",
    "Geometry",
    "Joint",
    "JointKind",
    "Joints",
    "Kind",
    "Limits",
    "Link",
    "Links",
    "Marks",
    "Memory",
    "Mimic",
    "Model",
    "ModelError",
    "ModelWarning",
    "Named",
    "Planar",
    "PrescribedMotion",
    "Prismatic",
    "Recording",
    "Revolute",
    "Spec",
    "Spherical",
    "State",
    "Topology",
    "Variable",
    "as_marks",
    "build",
    "build_spec",
    "carrier",
    "chain",
    "contact_grid",
    "default_numbers",
    "free_body",
    "ground",
    "mechanism_of",
    "outline_prisms",
    "pairs_left_out",
    "prefixed",
    "prescribed",
    "solid",
    "unmarked",
    "with_contacts",
    "world",
]
