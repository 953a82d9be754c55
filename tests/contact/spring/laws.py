"""The laws under test, and numbers for them."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from hybridsim.contact.spring import (
    Andersson,
    BrownMcPhee,
    Coulomb,
    ExponentialOnset,
    Frictionless,
    HardOnset,
    Hollars,
    HuntCrossley,
    PairNumbers,
    RationalOnset,
    SigmoidOnset,
)

SLIDING = {
    "coulomb": Coulomb(),
    "andersson": Andersson(),
    "andersson, sharp": Andersson(vs=0.05, p=2.0, ktanh=100.0),
    "hollars": Hollars(),
    "brown": BrownMcPhee(),
}
FRICTION = SLIDING | {"frictionless": Frictionless()}

ONSETS = {
    "hard": HardOnset(),
    "sigmoid": SigmoidOnset(300.0),
    "rational": RationalOnset(300.0),
    "exponential": ExponentialOnset(30.0),
}
NORMAL = {name: HuntCrossley(onset) for name, onset in ONSETS.items()} | {
    "adhesive": HuntCrossley(adhesion=True),
    "adhesive, sigmoid": HuntCrossley(SigmoidOnset(300.0), adhesion=True),
    "as in TDS": HuntCrossley(adhesion=True, separation_exponent=1 / 20),
}

TDS = {
    "friction": 0.4,
    "static_friction": 0.5,
    "transition_speed": 0.01,
    "stiffness": 50000.0,
    "dissipation": 50000.0,
    "exponent": 1.5,
}
NAMES = tuple(field.name for field in dataclasses.fields(PairNumbers))


def numbers(points: int = 1, dtype=np.float64, **changes) -> PairNumbers:
    """The same for all points: those of TDS, with a sliding coefficient below the static one."""
    values = TDS | changes
    return PairNumbers(**{name: jnp.full(points, values[name], dtype=dtype) for name in NAMES})
