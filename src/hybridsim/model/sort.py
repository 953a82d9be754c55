"""Joints in depth-first order, parents first, children in the order in which they were given."""

from .errors import ModelError
from .spec import WORLD, Joint, Spec


def sorted_joints(spec: Spec, where) -> tuple[list[Joint], list[int]]:
    """Joints in order, and of each the index of the joint that carries its parent frame (-1: the world)."""
    bodies: dict[str, list[Joint]] = {link.name: [] for link in spec.links}
    if WORLD in bodies:
        raise ModelError(f"{where('link ' + WORLD)}: {WORLD!r} is the name of the fixed frame; rename the link")
    children: dict[str, list[str]] = {name: [] for name in [*bodies, WORLD]}
    for joint in spec.joints:
        here = where(f"joint {joint.name}")
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in bodies and not (role == "parent" and name == WORLD):
                known = ", ".join(bodies) or "none"
                raise ModelError(f"{here}: its {role} link {name!r} does not exist; the links are: {known}")
        row = bodies[joint.child]
        if not row:
            children[joint.parent].append(joint.child)
        elif row[0].parent != joint.parent:
            raise ModelError(
                f"{here}: link {joint.child!r} would have two parents, {row[0].parent!r} and {joint.parent!r}; "
                "a mechanism is a tree, so close the loop by a constraint instead"
            )
        row.append(joint)

    joints: list[Joint] = []
    parents: list[int] = []
    last = {WORLD: -1}
    waiting = [*reversed(children[WORLD])]
    while waiting:
        body = waiting.pop()
        carrier = last[bodies[body][0].parent]
        for joint in bodies[body]:
            joints.append(joint)
            parents.append(carrier)
            carrier = len(joints) - 1
        last[body] = carrier
        waiting += reversed(children[body])

    if unreached := [name for name in bodies if name not in last]:
        rootless = [name for name in unreached if not bodies[name]]
        if rootless:
            raise ModelError(
                f"{where('link ' + rootless[0])}: no joint attaches it; "
                f"add a joint of kind fixed or free from {WORLD!r} to it"
            )
        raise ModelError(
            f"{spec.source}: the joints of links {', '.join(unreached)} form a loop that never reaches the world"
        )
    return joints, parents
