"""Semi-implicit Euler in which damping and friction act on the new velocity.

Stable for any damping and for friction of any slope, at the cost of nothing: (M + dt D) qdd = forces is the
same articulated-body recursion with dt D added to the armature. MuJoCo's default integrator does the same.
"""

from .interface import Integrator


class ImplicitDamping(Integrator):
    """First order."""

    def __call__(self, model, motion, state, dt):
        return motion.first_order(state, dt, implicit=dt)
