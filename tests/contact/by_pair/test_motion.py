"""Pairs with different contact models, side by side in one step."""

import jax
import numpy as np
import pytest

import hybridsim as hs

from .scenes import DT, HALF, MASS, PUSH, SOFT, TIP_MASS, G, apart, approaching, pushed, resting_depth, thrown

STEPS = 400
IDS = ["impulses", "tds", "springs", "coulomb"]


def moved(model, start, contact, steps=STEPS, dt=DT, record=()):
    run = jax.jit(lambda m, q, qd: hs.rollout(m, (q, qd), dt=dt, steps=steps, contact=contact, record=record))
    return run(model, *start)


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_a_hard_tip_hits_a_box_on_springs(restitution):
    """Without friction on the ground momentum is shared as in a textbook, and the box stays as deep as its springs say."""
    model = pushed(friction=0.0, restitution=restitution)
    depth = resting_depth()
    path = moved(model, approaching(model, 1.0, depth=depth), PUSH, record=("contact.distance",))
    box, tip = path.qd[-1][model.v_of("root")][3], path.qd[-1][model.v_of("rail")][0]
    total = TIP_MASS + MASS
    assert box == pytest.approx(TIP_MASS * (1 + restitution) / total, rel=1e-3)
    assert tip == pytest.approx((TIP_MASS - restitution * MASS) / total, rel=1e-2, abs=1e-3)
    assert path.q[:, model.q_of("root")][:, 2] == pytest.approx(HALF[2] - depth, abs=0.02 * depth)
    assert path.values["contact.distance"][:, 0].min() > -1e-8, "the tip is hard"


def test_the_tip_overlaps_the_box_only_where_it_is_on_springs():
    model = pushed(friction=0.0)
    start = approaching(model, 1.0, depth=resting_depth())
    all_soft = moved(model, start, SOFT, record=("contact.distance",))
    assert all_soft.values["contact.distance"][:, 0].min() < -1e-4


def test_stiffer_springs_approach_impulses():
    """The box is pushed and slides to rest; the stiffer its springs, the nearer to hard contact everywhere."""
    ends = []
    for stiffness in (1e3, 1e5, 1e7):
        model = pushed(stiffness, friction=0.2)
        depth = resting_depth(stiffness)
        ends.append(moved(model, approaching(model, 1.0, depth=depth), PUSH, 800, 1e-4).q[-1])
    model = pushed(friction=0.2)
    hard = moved(model, approaching(model, 1.0), hs.Impulses(), 800, 1e-4).q[-1]
    errors = [np.abs(end - hard).max() for end in ends]
    assert errors[0] > 4 * errors[1] > 4 * errors[2]
    assert errors[2] < 2e-4


def test_each_body_moves_as_if_its_own_model_were_the_only_one():
    model = apart()
    start = thrown(model)
    models = {"ball": hs.Springs(), "brick": hs.Impulses(), "egg": SOFT}
    mixed = moved(model, start, hs.ContactByPair({(f"{name}/*", "ground"): m for name, m in models.items()}, None))
    for name, contact in models.items():
        alone = moved(model, start, contact)
        where, how = model.q_of(f"{name}/root"), model.v_of(f"{name}/root")
        assert mixed.q[:, where] == pytest.approx(np.asarray(alone.q[:, where]), abs=1e-10), name
        assert mixed.qd[:, how] == pytest.approx(np.asarray(alone.qd[:, how]), abs=1e-8), name


@pytest.mark.parametrize("contact", [hs.Impulses(), hs.Impulses.tds(10), hs.Springs(), SOFT], ids=IDS)
def test_one_model_for_all_pairs_is_that_model_alone(contact):
    """The same program, so the same motion to the last bit."""
    model = apart()
    start = thrown(model)

    def program(contact):
        return str(jax.make_jaxpr(lambda q, qd: hs.rollout(model, (q, qd), dt=DT, steps=2, contact=contact))(*start))

    same = [
        hs.ContactByPair({("*", "ground"): contact}, None),
        hs.ContactByPair({("ball/*", "*"): contact, ("ground", "egg/*"): contact}, contact),
        hs.ContactByPair({("*", "*"): contact}, contact if isinstance(contact, hs.Impulses) else hs.Impulses()),
    ]
    assert {program(rules) for rules in same} == {program(contact)}


def test_a_pair_without_a_model_passes_through():
    model = apart()
    start = thrown(model)
    rules = hs.ContactByPair({("brick/*", "ground"): None}, hs.Impulses())
    path = moved(model, start, rules)
    alone = moved(hs.with_contacts(model, [("ball/ball", "ground"), ("egg/egg", "ground")],
                                   friction=[0.2, 0.4], restitution=[0.0, 0.5], transition_speed=0.05),
                  start, hs.Impulses())  # fmt: skip
    assert path.q == pytest.approx(np.asarray(alone.q), abs=1e-12)
    time = DT * STEPS
    fall = 0.2 * time + G * time * (time + DT) / 2
    assert path.q[-1][model.q_of("brick/root")][2] == pytest.approx(0.0302 - fall, abs=1e-3)


def test_no_pair_touches():
    """As with contact=None, but joint limits act where `otherwise` has a model for them."""
    model = apart()
    start = thrown(model)
    nothing = moved(model, start, hs.ContactByPair({("*", "*"): None}, None))
    assert nothing.q == pytest.approx(np.asarray(moved(model, start, None).q), abs=1e-12)


@pytest.mark.parametrize("otherwise", [hs.Impulses(), SOFT, None], ids=["impulses", "springs", "none"])
def test_joint_limits_belong_to_the_impulses_if_there_are_any(otherwise):
    """The rail ends before the tip reaches the box."""
    rail = hs.Joint(
        "rail", "prismatic", "world", "tip", axis=(1, 0, 0), position=(0, 0, HALF[2]), lower=-1.0, upper=-0.09
    )
    model = pushed(tip=rail)
    rules = hs.ContactByPair({("box", "ground"): SOFT}, otherwise)
    path = moved(model, approaching(model, 1.0, gap=0.03, depth=resting_depth()), rules)
    furthest = float(path.q[:, model.q_of("rail")].max())
    if isinstance(otherwise, hs.Impulses):
        assert furthest == pytest.approx(-0.09, abs=1e-9)
    else:
        assert -0.09 + 1e-5 < furthest < -0.08, "a soft limit is overshot"


def test_joint_friction_belongs_to_the_impulses():
    rail = hs.Joint("rail", "prismatic", "world", "tip", axis=(1, 0, 0), position=(0, 0, HALF[2]), friction=1.0)
    model = pushed(tip=rail)
    hard = hs.Impulses(joint_friction=True)
    path = moved(model, approaching(model, 0.1, 0.02), hs.ContactByPair({("box", "ground"): SOFT}, hard))
    assert path.qd[-1][model.v_of("rail")] == pytest.approx(0.0, abs=1e-12), "dry friction stops it"
    assert path.q[-1][model.q_of("rail")] - path.q[0][model.q_of("rail")] == pytest.approx(
        TIP_MASS * 0.1**2 / 2, rel=0.02
    )


def test_integrators_of_forces_need_springs_everywhere():
    model = pushed()
    start = approaching(model, 1.0, depth=resting_depth())
    with pytest.raises(ValueError, match="RungeKutta4 integrates forces"):
        hs.step(model, start, dt=DT, contact=PUSH, integrator=hs.RungeKutta4())
    rules = hs.ContactByPair({("*", "ground"): SOFT}, None)
    end = hs.step(model, start, dt=DT, contact=rules, integrator=hs.RungeKutta4())
    assert np.isfinite(np.asarray(end.q)).all()
    hs.step(model, start, dt=DT, contact=PUSH, integrator=hs.ImplicitDamping())


def test_accelerations_know_springs_only():
    """At rest on its springs the box has none, whatever the tip does."""
    model = pushed()
    start = approaching(model, 0.0, gap=-1e-4, depth=resting_depth())
    assert hs.acceleration(model, start, contact=PUSH) == pytest.approx(np.zeros(model.nv), abs=1e-9)
    both = hs.acceleration(model, start, contact=SOFT)
    assert abs(both[model.v_of("rail")][0]) > 0.1


def test_what_is_recorded_of_all_pairs_moves_the_bodies():
    """Forces of springs and mean forces of impulses, in one array: together with weight they are dp/dt."""
    model = pushed(friction=0.4)
    record = ("contact.normal", "contact.normal_force", "contact.friction_force", "contact.impulse", "contact.depth")
    path = moved(model, approaching(model, 1.0, depth=resting_depth()), PUSH, record=record)
    normal, load, rubbing, impulse, depth = (np.asarray(path.values[name]) for name in record)
    tip, ground = slice(0, 1), slice(1, None)
    assert impulse[:, tip].any()
    assert not impulse[:, ground].any(), "springs have no impulses"
    assert load[:, tip].max() > 1
    assert load[:, ground].max() > 1
    assert impulse[:, tip, 0] == pytest.approx(load[:, tip] * DT)
    assert depth.shape == load.shape
    assert depth[:, ground].max() > 1e-4
    force = load[..., None] * normal + rubbing
    on_box = force[:, ground].sum(1) - force[:, tip].sum(1) + MASS * np.array([0, 0, -G])
    # The box hardly turns, so its axes are the world's; dp/dt in a turning frame differs by w x v.
    change = np.diff(np.asarray(path.qd)[:, model.v_of("root")][:, 3:], axis=0) / DT
    assert change == pytest.approx(on_box / MASS, abs=0.02 * np.abs(on_box / MASS).max())


def test_memory_goes_on_from_where_a_rollout_ended():
    model = pushed()
    start = approaching(model, 1.0, depth=resting_depth())
    whole = hs.rollout(model, start, dt=DT, steps=40, contact=PUSH)
    first = hs.rollout(model, start, dt=DT, steps=20, contact=PUSH)
    second = hs.rollout(model, first.end, dt=DT, steps=20, contact=PUSH)
    assert np.array_equal(second.q[-1], whole.q[-1])
