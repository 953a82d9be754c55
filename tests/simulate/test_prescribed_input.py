"""What is wrong with prescribed joints or their motion ends in a message that names the joint, the value and the fix."""

import jax
import numpy as np
import pytest

import hybridsim as hs

T = np.linspace(0.0, 1.0, 101)


def slider(kind: str = "prismatic") -> hs.Model:
    return hs.prescribed(
        hs.build([hs.solid("tip", 1.0, "sphere", 0.1)], [hs.Joint("push", kind, "world", "tip")]), "push"
    )


def turning(t=T) -> np.ndarray:
    zero = np.zeros_like(t)
    return np.stack([np.cos(t / 2), zero, zero, np.sin(t / 2)], axis=1)


def refused(match: str, function, *arguments, **options) -> None:
    with pytest.raises((ValueError, hs.ModelError), match=match):
        function(*arguments, **options)


def test_joints_that_cannot_be_prescribed():
    links = [hs.solid(name, 1.0, "sphere", 0.1, (0.0, 0.0, 0.3)) for name in ("a", "b", "c")]
    joints = [
        hs.Joint("first", "revolute", "world", "a"),
        hs.Joint("second", "revolute", "a", "b", mimic=hs.Mimic("first", 2.0, 0.0)),
        hs.Joint("weld", "fixed", "b", "c"),
    ]
    model = hs.build(links, joints)
    refused("no joint matches 'frist'; those that can move are: first", hs.prescribed, model, "frist")
    refused("'second' copies joint 'first'; prescribe that one", hs.prescribed, model, ["second"])
    refused("'weld' is fixed and cannot move", hs.prescribed, model, "weld")
    assert hs.prescribed(model, "*").prescribed_names == ("first",)
    hybrid = hs.Blueprint(hs.Augment("joint.force", "joint.velocity", hs.MLP((2,)))).graft(model, key=0)
    refused("before they are grafted", hs.prescribed, hybrid, "first")


def test_a_motion_is_given_if_and_only_if_joints_are_prescribed():
    model, plain = slider(), hs.chain(1)
    refused(
        r"joint push is prescribed, but its motion is not given; make it by.*prescribed_motion",
        hs.rollout,
        model,
        model.rest(),
        steps=3,
    )
    refused("its motion is not given", hs.step, model, model.rest(), dt=1e-3)
    motion = hs.prescribed_motion(model, T, {"push": 0 * T}, dt=1e-2)
    refused(
        "no joint of this model is prescribed", hs.rollout, plain, plain.rest(), hs.Control(prescribed=motion.steps)
    )
    refused("no joint of this model is prescribed; mark some", hs.prescribed_motion, plain, T, {"push": 0 * T})


def test_shapes_and_times():
    model = slider()
    refused(
        r"'push': its positions have shape \(50,\), but 101 times need \(101, 1\)",
        hs.prescribed_motion,
        model,
        T,
        {"push": T[:50]},
    )
    refused(
        r"velocities have shape \(101, 2\)", hs.prescribed_motion, model, T, {"push": T}, {"push": np.zeros((101, 2))}
    )
    refused("given for joint tip, but the prescribed joints are: push", hs.prescribed_motion, model, T, {"tip": T})
    refused(r"have shape \(101, 3\), but 101 times need \(101, 1\)", hs.prescribed_motion, model, T, np.zeros((101, 3)))
    refused("rising finite times", hs.prescribed_motion, model, T[::-1], {"push": T})
    refused(
        "room for 100 steps of 0.01 s, not for 200", hs.prescribed_motion, model, T, {"push": T}, dt=0.01, steps=200
    )
    hole = np.delete(np.arange(101), np.arange(40, 60))
    refused(
        r"a hole of 0\.21 s between t = 0\.39 s and 0\.6 s", hs.prescribed_motion, model, T[hole], {"push": T[hole]}
    )
    wide = hs.PrescribedMotion(np.zeros((3, 2)), np.zeros((3, 1)))
    refused(
        r"the prescribed q has shape \(2,\) at each step, but joint push needs \(1,\)",
        hs.rollout,
        model,
        model.rest(),
        hs.Control(prescribed=wide),
        dt=1e-2,
    )


def test_numbers_that_are_missing_and_quaternions_that_are_not_unit():
    model, x = slider(), np.sin(T)
    gone = np.where(np.arange(101) == 30, np.nan, x)
    refused(r"'push': its position at t = 0\.3 s \(row 30\) is \[nan\]", hs.prescribed_motion, model, T, {"push": gone})
    refused(r"'push': its velocity in row 30 is nan", hs.prescribed_motion, model, T, {"push": x}, {"push": gone})
    ball, q = slider("spherical"), turning()
    q[7] *= 1.1
    refused(
        r"its quaternion at t = 0\.07 s \(row 7\) is .*of length 1\.1; give unit quaternions",
        hs.prescribed_motion,
        ball,
        T,
        {"push": q},
    )
    bad = hs.PrescribedMotion(2 * turning(), np.zeros((101, 3)))
    refused("unit quaternions", hs.rollout, ball, ball.rest(), hs.Control(prescribed=bad), dt=1e-2)


def test_jumps():
    model = slider("revolute")
    faster = np.where(T < 0.5, 0.02 * T, 0.01 + 3.0 * (T - 0.5))
    hs.prescribed_motion(model, T, {"push": faster})  # a sudden start is none
    hs.prescribed_motion(model, T, {"push": np.round(0.05 * T, 2)})  # nor is a coarse encoder
    turns = 8 * T
    wrapped = (turns + np.pi) % (2 * np.pi) - np.pi
    refused(
        r"'push' jumps between t = 0\.39 s and 0\.4 s .*wrapped angle",
        hs.prescribed_motion,
        model,
        T,
        {"push": wrapped},
    )
    spike = np.where(np.arange(101) == 50, 5.0, 0.1 * np.sin(T))
    refused(
        r"'push' jumps between t = 0\.49 s and 0\.5 s \(rows 49 and 50\)",
        hs.prescribed_motion,
        model,
        T,
        {"push": spike},
    )
    refused(r"'push' jumps", hs.prescribed_motion, model, T, {"push": wrapped}, {"push": np.full(101, 8.0)})
    refused(
        r"velocities are 57\.3 times the change of its positions over time; give both in the same unit",
        hs.prescribed_motion,
        model,
        T,
        {"push": np.sin(T)},
        {"push": np.rad2deg(np.cos(T))},
    )


def test_a_start_elsewhere_is_a_jump_and_steps_of_another_length_are_another_unit():
    model = slider()
    motion = hs.prescribed_motion(model, T, {"push": np.sin(T)}, dt=1e-2)
    elsewhere = np.array([0.4]), np.zeros(1)
    refused(
        r"'push' jumps between t = 0 s and 0\.01 s.*a start elsewhere\?",
        hs.rollout,
        model,
        elsewhere,
        hs.Control(prescribed=motion.steps),
        dt=1e-2,
    )
    refused(
        "velocities are 0.01 times",
        hs.rollout,
        model,
        motion.start(model),
        hs.Control(prescribed=motion.steps),
        dt=1e-4,
    )


def test_nothing_is_nan_or_refused_at_rest_and_in_derivatives():
    """A body that stands still, of every kind, with derivatives at the point where rotations have their singularity."""
    for kind, q in (("prismatic", np.zeros((101, 1))), ("spherical", np.tile([1.0, 0, 0, 0], (101, 1)))):
        model = slider(kind)

        def end(x, model=model, q=q):
            motion = hs.prescribed_motion(model, T, {"push": q + x}, dt=5e-3, steps=6)
            path = hs.rollout(model, motion.start(model), hs.Control(prescribed=motion.steps), dt=5e-3)
            return path.qd[5].sum() + path.q[5].sum()

        assert np.isfinite(hs.native.jit(jax.value_and_grad(end))(0.0)).all()
