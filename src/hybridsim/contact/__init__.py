"""Contact: where shapes touch (detect/), contact as springs (spring/) and as impulses (impulse/)."""

from .by_pair import ContactByPair
from .impulse import Cone, Impulses, Pyramid
from .interface import Contact, Moment
from .points import pairs_of_points
from .spring import Andersson, BrownMcPhee, Coulomb, Frictionless, Hollars, HuntCrossley, Springs

__all__ = [
    "Andersson",
    "BrownMcPhee",
    "Cone",
    "Contact",
    "ContactByPair",
    "Coulomb",
    "Frictionless",
    "Hollars",
    "HuntCrossley",
    "Impulses",
    "Moment",
    "Pyramid",
    "Springs",
    "pairs_of_points",
]
