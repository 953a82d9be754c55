"""Networks that plain numbers cannot say are refused, with words that say what can be exported."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.export import learned_force, write_augmentation

from .exported import FORMS, SMALL, force, friction, hybrid

CHAIN = hs.chain(2, friction=0.3)

REFUSED = {
    "memory": (force("joint.velocity", network=hs.GRU(4)), "its network is GRU"),
    "past": (force(hs.previous("joint.velocity")), r"looks at previous\(joint.velocity\[joint1\]\)"),
    "cyclic": (force(hs.cyclic("joint.position")), "looks at cyclic"),
    "constant": (force(hs.constant("load", 2.0)), r"looks at constant\(load\)"),
    "other input": (force("world.time"), "looks at world.time"),
    "other output": (hs.Augment("joint.force", "joint.velocity", SMALL), "changes joint.force"),
    "damping": (hs.Augment("joint.damping", "joint.velocity", SMALL, mode="scale"), "changes joint.damping"),
    "mode of force": (force("joint.velocity", mode="scale"), "mode is 'scale'"),
    "mode of friction": (hs.Augment("joint.friction", "joint.velocity", SMALL), "mode is 'add'"),
    "all at once": (force("joint.velocity", apply="together"), "gives 2 numbers at once"),
    "activation": (force("joint.velocity", network=hs.MLP((4,), "elu")), "elu"),
    "structure": (force("joint.velocity", network=hs.Dissipative(SMALL)), "its network is Dissipative"),
    "two structures": (force("joint.position", network=hs.Conservative(hs.Bounded(SMALL, 1.0))), "Conservative"),
    "hidden input": (force("joint.position", network=hs.Dissipative(SMALL)), "joint.velocity"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_other_networks(case, tmp_path):
    augment, words = REFUSED[case]
    model = hs.Blueprint(*FORMS["friction"], augment).graft(CHAIN, contact=None)
    with pytest.raises(ValueError, match=f"cannot be exported: .*{words}.*; what can be exported"):
        write_augmentation(model, tmp_path)
    assert not list(tmp_path.iterdir())


def test_other_models(tmp_path):
    with pytest.raises(ValueError, match="no networks to export"):
        learned_force(CHAIN)
    model = hybrid(CHAIN, FORMS["friction"])
    for delay in (-0.1, np.nan):
        with pytest.raises(ValueError, match=f"delay is {delay} s"):
            write_augmentation(model, tmp_path, delay=delay)
    with jax.enable_x64(False), pytest.raises(ValueError, match="64 bits"):
        write_augmentation(model, tmp_path)
    broken = jax.tree.map(lambda x: np.asarray(x) * np.nan, model.augmentation)
    with pytest.raises(ValueError, match="not finite"):
        learned_force(replace(model, augmentation=broken))


@pytest.fixture
def gripper() -> hs.Model:
    links = [hs.solid(name, 1.0, "box", (0.1, 0.1, 0.1)) for name in ("a", "b")]
    joints = [
        hs.Joint("left", "prismatic", "world", "a", axis=(1, 0, 0), friction=0.2),
        hs.Joint("right", "prismatic", "world", "b", axis=(1, 0, 0), friction=0.2, mimic=hs.Mimic("left", -1.0)),
    ]
    return hs.build(links, joints)


def test_joints_that_copy_others(gripper, tmp_path):
    with pytest.raises(ValueError, match="joint right has not one freedom of its own"):
        learned_force(hs.Blueprint(friction("joint.velocity[left]")).graft(gripper, contact=None))
    model = hybrid(gripper, [friction("joint.velocity", entities="left")])
    with pytest.raises(ValueError, match="friction of joint right cannot be exported"):
        write_augmentation(model, tmp_path, whole_friction=True)


@pytest.mark.slow
def test_friction_of_a_copying_joint_acts_on_the_joint_that_it_copies(gripper):
    model = hybrid(gripper, [friction("joint.velocity", entities="left")])
    function, plain = learned_force(model, whole_friction=True)
    q, qd, command = np.array([[0.3], [0.7], [0.2]])
    found = hs.acceleration(plain, (q, qd), command + function(q, qd, command))
    np.testing.assert_allclose(found, hs.acceleration(model, (q, qd), command), rtol=1e-12)
