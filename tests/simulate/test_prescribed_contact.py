"""Prescribed bodies in contact: infinitely heavy, and exactly where and as fast as their data say."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import hybridsim as hs

GRAVITY = 9.81
BOX = 0.05


def plane(name: str, mass: float, quaternion=(1.0, 0.0, 0.0, 0.0)) -> hs.Link:
    """A wall or floor that moves: planes are quick to find contact with."""
    return hs.Link(name, mass=mass, inertia=np.full(3, 0.1), geoms=[hs.Geom("plane", quaternion=quaternion, name=name)])


def floor_and_box(axis, friction: float = 0.5, mass: float = 0.8) -> hs.Model:
    """A box that rests on a floor of 1 kg, which slides along an axis as it is told."""
    floor = hs.build([plane("slab", 1.0)], [hs.Joint("slab", "prismatic", "world", "slab", axis=axis)])
    box = hs.free_body(hs.solid("box", mass, "box", (BOX, BOX, BOX)))
    return hs.with_contacts(hs.prescribed(hs.world(floor, box), "slab"), friction=friction)


def on_slab(model: hs.Model, depth: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    q, qd = model.rest()
    q[model.q_of("root")] = [0.0, 0.0, BOX - depth, 1.0, 0.0, 0.0, 0.0]
    return q, qd


def sunk(model: hs.Model, weight: float) -> float:
    """How deep four corners on springs are under a weight."""
    return float((weight / 4 / model.contacts.stiffness[0]) ** (1 / model.contacts.exponent[0]))


def along(model, x, v, dt, state=None, contact=hs.Impulses(), record=()):
    """A rollout in which the one prescribed joint, `slab`, follows x and v, one row a time."""
    motion = hs.PrescribedMotion(np.asarray(x)[:, None], np.asarray(v)[:, None])
    start = motion.start(model, state or on_slab(model))

    def run(model, start, motion):
        return hs.rollout(model, start, hs.Control(prescribed=motion.steps), dt=dt, contact=contact, record=record)

    return hs.native.jit(run)(model, start, motion)


def test_an_elevator_changes_the_load_by_m_a():
    model, dt, a = floor_and_box((0.0, 0.0, 1.0)), 1e-3, 3.0
    t = dt * np.arange(401)
    path = along(model, a * t**2 / 2, a * t, dt, record=("contact.normal_force", "joint.prescribed_force"))
    load = np.asarray(path.values["contact.normal_force"]).sum(axis=1)
    assert np.allclose(load[5:], 0.8 * (GRAVITY + a), rtol=1e-6)
    # The drive carries the slab of 1 kg and the box, both at the acceleration a.
    assert np.allclose(path.values["joint.prescribed_force"][5:, 0], 1.8 * (GRAVITY + a), rtol=1e-6)
    assert np.allclose(path.q[:, 3] - path.q[:, 0], BOX, atol=1e-7)
    assert np.allclose(path.qd[5:, 6], path.qd[5:, 0], atol=1e-7)


def test_an_elevator_that_falls_faster_than_free_fall_leaves_the_box_behind():
    model, dt = floor_and_box((0.0, 0.0, 1.0)), 1e-3
    t = dt * np.arange(201)
    path = along(model, -2 * GRAVITY * t**2 / 2, -2 * GRAVITY * t, dt, record="contact.normal_force")
    assert np.all(path.values["contact.normal_force"] == 0)
    assert np.isclose(path.q[-1, 3], BOX - GRAVITY * 0.2 * 0.201 / 2)


def test_an_elevator_on_springs_changes_the_load_by_m_a():
    model, dt, a = floor_and_box((0.0, 0.0, 1.0)), 2e-4, 3.0
    t = dt * np.arange(301)
    start = on_slab(model, sunk(model, 0.8 * (GRAVITY + a)))
    record = ("contact.normal_force", "joint.prescribed_force")
    path = along(model, a * t**2 / 2, a * t, dt, start, hs.Springs(), record)
    load = np.asarray(path.values["contact.normal_force"]).sum(axis=1)
    assert np.allclose(load, 0.8 * (GRAVITY + a), rtol=5e-3)
    assert np.allclose(path.values["joint.prescribed_force"][:, 0], 1.8 * (GRAVITY + a), rtol=5e-3)
    assert np.array_equal(path.q[:, 0], a * t**2 / 2)


@pytest.mark.parametrize("contact", [hs.Impulses(), hs.Impulses.tds(200), hs.Springs(friction=hs.Coulomb())])
def test_a_conveyor_drags_a_box_until_it_moves_along(contact):
    model, dt, speed, mu = floor_and_box((1.0, 0.0, 0.0), friction=0.3), 2e-4, 0.4, 0.3
    steps = 3000
    t = dt * np.arange(steps + 1)
    start = on_slab(model, sunk(model, 0.8 * GRAVITY) if isinstance(contact, hs.Springs) else 0.0)
    path = along(model, speed * t, np.full(len(t), speed), dt, start, contact, "joint.prescribed_force")
    expected = np.minimum(mu * GRAVITY * t, speed)
    tolerance = 5e-3 if isinstance(contact, hs.Impulses) else 3e-2  # springs: a little speed is left to the end
    assert np.abs(path.qd[:, 4] - expected).max() < tolerance
    drag = np.asarray(path.values["joint.prescribed_force"])[:, 0]
    until = speed / (mu * GRAVITY)
    assert np.allclose(drag[(t[:-1] > 0.05) & (t[:-1] < until - 0.02)], mu * 0.8 * GRAVITY, rtol=0.15)
    assert np.abs(drag[-500:]).max() < 0.01 * mu * 0.8 * GRAVITY  # on springs the box rocks until then


TOWARDS_X = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
"""Turns the normal of a plane from z to x."""


def pushed(body: hs.Link) -> hs.Model:
    """A smooth plate of 0.2 kg pushes a body along a rough ground."""
    joints = [hs.Joint("push", "prismatic", "world", "plate", axis=(1.0, 0.0, 0.0))]
    pusher = hs.build([plane("plate", 0.2, TOWARDS_X)], joints)
    world = hs.prescribed(hs.world(pusher, hs.free_body(body), hs.ground()), "push")
    names = [{world.geometry.names[i] for i in pair} for pair in world.contacts.pairs]
    return hs.with_contacts(world, friction=np.array([0.4 if "ground" in pair else 0.0 for pair in names]))


def test_a_plate_pushes_a_box_which_then_moves_with_it():
    model, dt, steps = pushed(hs.solid("box", 0.8, "box", (BOX, BOX, BOX))), 1e-3, 600
    assert ("plate", "ground") not in [tuple(model.geometry.names[i] for i in pair) for pair in model.contacts.pairs]
    t = dt * np.arange(steps + 1)
    # It starts 20 mm away from the box, gets fast and slow again.
    x, v = -BOX - 0.02 + 0.1 * (1 - np.cos(4 * t)) / 2, 0.2 * np.sin(4 * t)
    q, qd = model.rest()
    q[model.q_of("root")] = [0.0, 0.0, BOX, 1.0, 0.0, 0.0, 0.0]
    q[model.q_of("push")] = x[0]
    motion = hs.PrescribedMotion(x[:, None], v[:, None])
    start, control = motion.start(model, (q, qd)), hs.Control(prescribed=motion.steps)
    run = hs.native.jit(lambda s, c: hs.rollout(model, s, c, dt=dt, record="joint.prescribed_force"))
    path = run(start, control)
    root, speed = model.q_of("root").start, model.v_of("root").start + 3
    first = int(np.argmax(x > -BOX)) + 4
    braking = int(np.argmax(np.gradient(v, t) < -0.4 * GRAVITY)) or len(t) - 1
    touching = slice(first, braking)
    assert np.abs(path.q[touching, root] - x[touching] - BOX).max() < 1e-6
    assert np.abs(path.qd[touching, speed] - v[touching]).max() < 1e-6
    # The pusher overcomes friction and accelerates the box and itself.
    force = np.asarray(path.values["joint.prescribed_force"])[touching, 0]
    a = (v[1:] - v[:-1])[touching] / dt
    assert np.allclose(force[5:-5], (0.8 * a + 0.2 * a + 0.4 * 0.8 * GRAVITY)[5:-5], rtol=1e-3)


def test_an_impact_with_restitution_is_that_with_a_wall_that_moves():
    """A bat of speed u meets a ball of speed -w: the ball leaves at u + e (u + w)."""
    bat = hs.build([hs.solid("bat", 0.1, "box", (0.05, 0.3, 0.3))], [hs.Joint("bat", "planar", "world", "bat")])
    ball = hs.free_body(hs.solid("ball", 0.5, "sphere", 0.04), gravity=(0.0, 0.0, 0.0))
    model = hs.prescribed(hs.world(ball, bat), "bat")
    model = hs.with_contacts(model, restitution=0.6, friction=0.0)
    u, w, dt, steps = 2.0, 1.0, 1e-3, 100
    t = dt * np.arange(steps + 1)
    motion = hs.prescribed_motion(model, t, {"bat": np.stack([u * t, 0 * t, 0 * t], axis=1)}, dt=dt)
    q, qd = model.rest()
    q[0], qd[3] = 0.2, -w
    path = hs.rollout(model, motion.start(model, (q, qd)), hs.Control(prescribed=motion.steps), dt=dt)
    # Contact yields: of the change of speed that is asked for, softness takes a part.
    change = w + u + 0.6 * (u + w)
    assert np.isclose(path.qd[-1, 3], change / (1 + model.contacts.softness[0]) - w, rtol=2e-7)
    assert np.array_equal(path.qd[:, model.v_of("bat")], motion.qd)


def test_a_prescribed_body_carried_by_a_free_one_passes_its_load_on():
    """A turntable on a sled: prescribed relative to the sled, which moves so that momentum is kept."""
    sled = hs.solid("sled", 2.0, "box", (0.3, 0.3, 0.05))
    arm = hs.solid("arm", 1.0, "box", (0.05, 0.05, 0.05))
    joints = [
        hs.Joint("rail", "prismatic", "world", "sled", axis=(1.0, 0.0, 0.0)),
        hs.Joint("slide", "prismatic", "sled", "arm", axis=(1.0, 0.0, 0.0)),
    ]
    model = hs.prescribed(hs.build([sled, arm], joints), "slide")
    t = np.linspace(0.0, 1.0, 501)
    motion = hs.prescribed_motion(model, t, {"slide": 0.2 * (1 - np.cos(3 * t))}, dt=2e-3)
    path = hs.rollout(model, motion.start(model), hs.Control(prescribed=motion.steps), dt=2e-3, contact=None)
    momentum = 3.0 * path.qd[:, 0] + 1.0 * path.qd[:, 1]
    assert np.abs(momentum - momentum[0]).max() < 1e-12


def test_mujoco_agrees_where_a_tip_pushes_and_spins_a_ball():
    """A witness: a heavy body in MuJoCo whose position and velocity are set in every step.

    Its mocap bodies are none: contact takes them as standing still, however they are moved, so that friction is wrong.
    """
    dt, steps, place = 5e-4, 800, (0.01, 0.06)
    t = dt * np.arange(steps + 1)
    x, v = -BOX - 0.02 + 0.06 * (1 - np.cos(5 * t)) / 2, 0.15 * np.sin(5 * t)
    spec = f"""<mujoco><option timestep="{dt}" cone="elliptic" impratio="20" iterations="200" integrator="implicitfast"/>
      <default><geom condim="3" friction="0.3 0 0" solref="0.002 1" solimp="0.99 0.9999 0.0001"/></default>
      <worldbody><geom type="plane" size="2 2 0.1"/>
        <body pos="0 {place[0]} {place[1]}"><joint type="slide" axis="1 0 0" armature="1e5"/>
          <geom type="sphere" size="0.02" mass="1"/></body>
        <body pos="0 0 {BOX}"><freejoint/><geom type="sphere" size="{BOX}" mass="0.8"/></body>
      </worldbody></mujoco>"""
    witness = mujoco.MjModel.from_xml_string(spec)
    data = mujoco.MjData(witness)
    for k in range(steps):
        data.qpos[0], data.qvel[0] = x[k], v[k]
        mujoco.mj_step(witness, data)
    tip = hs.build(
        [hs.solid("tip", 0.1, "sphere", 0.02)],
        [hs.Joint("push", "prismatic", "world", "tip", position=(0.0, *place), axis=(1.0, 0.0, 0.0))],
    )
    ball = hs.free_body(hs.solid("ball", 0.8, "sphere", BOX))
    model = hs.with_contacts(hs.prescribed(hs.world(tip, ball, hs.ground()), "push"), friction=0.3)
    q, qd = model.rest()
    q[model.q_of("root")] = [0.0, 0.0, BOX, 1.0, 0.0, 0.0, 0.0]
    motion = hs.PrescribedMotion(x[:, None], v[:, None])
    run = hs.native.jit(lambda s, c: hs.rollout(model, s, c, dt=dt))
    end = run(motion.start(model, (q, qd)), hs.Control(prescribed=motion.steps))[-1]
    ours, theirs = np.asarray(end.q)[model.q_of("root")], data.qpos[1:]
    assert ours[0] > 0.04
    assert ours[1] < -0.005
    assert np.abs(ours[:3] - theirs[:3]).max() < 5e-4
    assert np.abs(ours[3:] - theirs[3:]).max() < 6e-3


@pytest.mark.parametrize("contact", [hs.Impulses(), hs.Springs(friction=hs.Coulomb())])
def test_derivatives_by_the_motion_itself_agree_with_differences(contact):
    """Of where a wheel ends that a plate pushes and spins: by positions and velocities of the plate, start and friction."""
    plate = hs.build(
        [plane("plate", 0.2, TOWARDS_X)], [hs.Joint("push", "prismatic", "world", "plate", axis=(1.0, 0.0, 0.0))]
    )
    wheel = hs.build(
        [hs.solid("wheel", 0.8, "sphere", BOX)], [hs.Joint("root", "planar", "world", "wheel", axis=(0.0, 1.0, 0.0))]
    )
    model, dt, steps = hs.prescribed(hs.world(plate, wheel, hs.ground()), "push"), 1e-3, 60
    if isinstance(contact, hs.Springs):
        model, dt = hs.with_contacts(model, stiffness=5e3, dissipation=5e3, transition_speed=0.1), 5e-4
    t = dt * np.arange(steps + 1)
    x, v = -BOX - 2e-4 + 0.3 * t + 0.5 * t**2, 0.3 + t
    q, qd = model.rest()
    q[model.q_of("root")] = [0.0, 1e-4 - BOX, 0.0]  # x and minus z
    motion = hs.PrescribedMotion(x[:, None], v[:, None])

    def end(numbers):
        given = hs.PrescribedMotion(motion.q + numbers["q"], motion.qd + numbers["qd"])
        changed = hs.with_contacts(model, friction=0.4 + numbers["friction"])
        start = given.start(changed, (q + numbers["start"], qd))
        path = hs.rollout(changed, start, hs.Control(prescribed=given.steps), dt=dt, contact=contact)
        return jnp.concatenate([path.q[-1], path.qd[-1]])

    smooth = np.sin(2 * t / t[-1])[:, None]
    zero = {"q": np.zeros_like(motion.q), "qd": np.zeros_like(motion.qd), "friction": 0.0, "start": np.zeros(model.nq)}
    directions = {
        "q": dict(zero, q=1e-2 * smooth),
        "qd": dict(zero, qd=1e-1 * smooth),
        "friction": dict(zero, friction=1.0),
        "start": dict(zero, start=np.eye(model.nq)[model.q_of("root").start]),
    }
    forward = hs.native.jit(lambda x, dx: jax.jvp(end, (x,), (dx,)))
    reverse = hs.native.jit(lambda x, dy: jax.vjp(end, x)[1](dy)[0])
    weights = np.random.default_rng(0).normal(size=model.nq + model.nv)
    pulled = reverse(zero, weights)
    for name, direction in directions.items():
        _, slope = forward(zero, direction)
        slope = np.asarray(slope)
        both = sum(np.sum(np.asarray(pulled[k]) * direction[k]) for k in zero)
        assert np.isclose(weights @ slope, both, rtol=1e-8, atol=1e-10), name
        ahead, behind = (forward({k: zero[k] + h * direction[k] for k in zero}, zero)[0] for h in (1e-5, -1e-5))
        difference = (np.asarray(ahead) - np.asarray(behind)) / 2e-5
        assert np.linalg.norm(slope) > 1e-6, name
        assert np.abs(difference - slope).max() < 1e-4 * max(np.abs(slope).max(), 1e-2), name
