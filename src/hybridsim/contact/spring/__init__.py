"""Contact as springs: laws that give the force at a contact point, one file each behind `NormalLaw` or `FrictionLaw`.

The numbers of the pairs in TDS, the engine of the papers (and in its last version, where it differs):

==================  =================  ======================================
`PairNumbers`       TDS                value
==================  =================  ======================================
stiffness           spring_k           50000 N/m^1.5 (800)
dissipation         damper_d           50000 N s/m^2.5 (5000)
exponent            exponent_n         1.5
friction            of the contact     0.5 by default
static_friction     mu_static          0.5
transition_speed    v_transition       0.01 m/s
normal law          hard contact       HuntCrossley(adhesion=True, separation_exponent=1/20)
friction law        FRICTION_BROWN     BrownMcPhee(offset=1e-3) (Coulomb)
==================  =================  ======================================
"""

from .andersson import Andersson
from .brown_mcphee import BrownMcPhee
from .coulomb import Coulomb
from .friction import friction_force
from .frictionless import Frictionless
from .hollars import Hollars
from .hunt_crossley import HuntCrossley
from .interface import FrictionLaw, NormalLaw, PairNumbers
from .onset import ExponentialOnset, HardOnset, Onset, RationalOnset, SigmoidOnset
from .springs import Springs

__all__ = [
    "Andersson",
    "BrownMcPhee",
    "Coulomb",
    "ExponentialOnset",
    "FrictionLaw",
    "Frictionless",
    "HardOnset",
    "Hollars",
    "HuntCrossley",
    "NormalLaw",
    "Onset",
    "PairNumbers",
    "RationalOnset",
    "SigmoidOnset",
    "Springs",
    "friction_force",
]
