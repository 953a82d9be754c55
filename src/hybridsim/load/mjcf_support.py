"""What in an MJCF file changes the motion and is not simulated: listed, never dropped in silence."""

import mujoco
import numpy as np

from .mjcf_fields import BALL, FREE, HINGE, SLIDE, nonzero
from .mjcf_geoms import collides
from .mjcf_names import Names
from .mjcf_source import Source, listed

_NOT_CONVEX = (int(mujoco.mjtGeom.mjGEOM_HFIELD), int(mujoco.mjtGeom.mjGEOM_SDF))


def unsupported(source: Source, called: Names) -> list[str]:
    """One entry a kind of element, with names."""
    notes = [
        listed("equality", _equalities(source, called)),
        listed("tendon", _tendons(source.model)),
        *_bodies(source.model, called),
        *_joints(source.model, called),
        *_shapes(source, called),
        *_medium(source),
    ]
    return [note for note in notes if note]


def _equalities(source: Source, called: Names) -> list[str]:
    """Those that hold from the start."""
    m = source.model
    if source.off("equality", "constraint"):
        return []
    owners = {int(mujoco.mjtObj.mjOBJ_BODY): called.bodies, int(mujoco.mjtObj.mjOBJ_JOINT): called.joints}
    found = []
    for i in np.flatnonzero(m.eq_active0):
        kind = mujoco.mjtEq(int(m.eq_type[i])).name.removeprefix("mjEQ_").lower()
        of = owners[int(m.eq_objtype[i])][m.eq_obj1id[i]] if int(m.eq_objtype[i]) in owners else f"number {i + 1}"
        found.append(f"{kind} {m.eq(i).name or of}")
    return found


def _tendons(m: mujoco.MjModel) -> list[str]:
    """Those that pull by themselves; of the others only their actuators matter."""
    effects = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature", "limited")
    return [
        m.tendon(i).name or f"number {i + 1}"
        for i in range(m.ntendon)
        if any(nonzero(m, f"tendon_{e}", i) for e in effects)
    ]


def _bodies(m: mujoco.MjModel, called: Names) -> list[str]:
    def where(field: str) -> list[str]:
        return [called.bodies[i] for i in range(1, m.nbody) if nonzero(m, field, i)]

    mocap = [called.bodies[i] for i in np.flatnonzero(m.body_mocapid >= 0)]
    plugins = [called.bodies[i] for i in np.flatnonzero(m.body_plugin >= 0)]
    notes = [listed("gravcomp", where("body_gravcomp")), listed("mocap body, held fixed", mocap)]
    return [*notes, listed("body plugin", plugins)]


def _joints(m: mujoco.MjModel, called: Names) -> list[str]:
    def where(field: str, among=(HINGE, SLIDE, BALL, FREE)) -> list[str]:
        rows = m.jnt_dofadr if field.startswith("dof_") else range(m.njnt)
        return [name for i, name in enumerate(called.joints) if m.jnt_type[i] in among and nonzero(m, field, rows[i])]

    uneven = [
        name
        for i, name in enumerate(called.joints)
        if m.jnt_actfrclimited[i] and m.jnt_actfrcrange[i, 0] != -m.jnt_actfrcrange[i, 1]
    ]
    return [
        listed("joint stiffness polynomial, linear part used", where("jnt_stiffnesspoly")),
        listed("joint damping polynomial, linear part used", where("dof_dampingpoly")),
        listed("joint springyield", where("jnt_springyield")),
        listed("armature of a free joint, taken along the axes of the body", where("dof_armature", among=(FREE,))),
        listed("limit of a ball joint", where("jnt_limited", among=(BALL,))),
        listed("uneven actuatorfrcrange, larger side used", uneven),
    ]


def _shapes(source: Source, called: Names) -> list[str]:
    m = source.model
    touching = [i for i in range(m.ngeom) if collides(source, i)]

    def where(test) -> list[str]:
        return [m.geom(i).name or f"in {called.bodies[m.geom_bodyid[i]]}" for i in touching if test(i)]

    return [
        listed("hfield or sdf shape", where(lambda i: m.geom_type[i] in _NOT_CONVEX)),
        listed("geom adhesion", where(lambda i: nonzero(m, "geom_adhesion", i))),
        listed("geom surface velocity", where(lambda i: nonzero(m, "geom_surfacevel", i))),
        listed(
            "flex", [mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_FLEX, i) or f"number {i + 1}" for i in range(m.nflex)]
        ),
    ]


def _medium(source: Source) -> list[str]:
    m = source.model
    notes = []
    if m.opt.density or m.opt.viscosity:
        wind = " ".join(f"{x:g}" for x in m.opt.wind)
        notes.append(f"fluid: density {m.opt.density:g}, viscosity {m.opt.viscosity:g}, wind {wind}")
    if source.off("filterparent"):
        notes.append('flag filterparent="disable"')
    return notes
