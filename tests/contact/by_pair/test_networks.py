"""Networks at the contact variables of pairs with different models."""

import jax
import numpy as np
import pytest

import hybridsim as hs
from augment.weights import shaken

from .scenes import DT, PUSH, SOFT, approaching, pushed, resting_depth

MODEL = pushed(friction=0.3)
START = approaching(MODEL, 1.0, gap=5e-4, depth=resting_depth())
START[1][MODEL.v_of("root")] = 0.0, 0.0, 0.2, 0.1, 0.2, 0.0
TIP, GROUND = "tip/sphere/box/box", "box/box/ground"
NET = hs.MLP((3,), "tanh")


def run(model, record=(), contact=PUSH, steps=12):
    return jax.jit(lambda q, qd: hs.rollout(model, (q, qd), dt=DT, steps=steps, contact=contact, record=record))(*START)


def graft(*augments, scale=1.0, contact=PUSH):
    """With weights that are not zero at the end."""
    return shaken(hs.Blueprint(*augments).graft(MODEL, key=1, contact=contact), size=scale)


def entities(*augments, contact=PUSH):
    return [site.plan.entities for site in hs.sites_of(hs.Blueprint(*augments).graft(MODEL, contact=contact))]


FRICTION = hs.Augment("contact.friction_force", "contact.sliding_velocity", NET, apply="shared")
IMPULSE = hs.Augment("contact.impulse", ("contact.impulse", "contact.normal_velocity"), NET)


def test_a_variable_is_changed_at_the_pairs_that_have_it():
    assert entities(FRICTION) == [(GROUND,)]
    assert entities(IMPULSE) == [(TIP,)]
    assert entities(hs.Augment("contact.friction", "contact.depth", NET)) == [(TIP,), (GROUND,)]
    assert entities(FRICTION, contact=SOFT) == [(TIP, GROUND)]


def test_friction_of_springs():
    """Only on the ground; the recorded force of the tip is that of its impulse."""
    record = ("contact.friction_force", "contact.normal_force", "contact.impulse")
    plain, hybrid = run(MODEL, record), run(graft(FRICTION, scale=0.3), record)
    first = [np.asarray(path.values["contact.friction_force"])[0] for path in (plain, hybrid)]
    assert np.abs(first[1] - first[0])[1:].min() > 1e-3
    impulse, force = (np.asarray(hybrid.values[name]) for name in ("contact.impulse", "contact.friction_force"))
    assert np.linalg.norm(impulse[:, 0, 1:], axis=-1).max() > 0
    assert np.linalg.norm(force[:, 0], axis=-1) * DT == pytest.approx(np.linalg.norm(impulse[:, 0, 1:], axis=-1))
    assert not np.allclose(plain.q[-1], hybrid.q[-1], atol=1e-8)


def test_a_dissipative_network_takes_energy_on_springs():
    law = hs.Augment("contact.friction_force", "contact.normal_force", hs.Dissipative(NET), apply="shared")
    path = run(graft(law), ("contact.friction_force", "contact.sliding_velocity"))
    force, velocity = (np.asarray(x) for x in path.values.values())
    power = np.sum(force * velocity, axis=-1)[:, 1:]
    assert power.max() <= 1e-12
    assert power.min() < -1e-3


def test_impulses_of_the_tip():
    record = ("contact.impulse", "contact.normal_force")
    hybrid = run(graft(IMPULSE, scale=1e-2), record)
    impulse, load = (np.asarray(hybrid.values[name]) for name in record)
    assert np.abs(impulse[0, 0]).max() > 0, "the network pushes before there is contact"
    assert not impulse[:, 1:].any()
    assert load[:, 0] * DT == pytest.approx(impulse[:, 0, 0]), "forces are those of the changed impulse"
    assert not np.allclose(run(MODEL).q[-1], hybrid.q[-1], atol=1e-8)


def test_networks_that_start_at_zero_change_nothing():
    hybrid = hs.Blueprint(FRICTION, IMPULSE).graft(MODEL, contact=PUSH)
    assert run(hybrid).q[-1] == pytest.approx(np.asarray(run(MODEL).q[-1]), abs=1e-13)


def test_all_distances_are_known_before_forces():
    """Springs may look at how far the tip is."""
    hybrid = graft(hs.Augment("contact.friction_force", f"contact.distance[{TIP}]", NET, apply="shared"))
    assert not np.allclose(run(hybrid).q[-1], run(MODEL).q[-1], atol=1e-8)


def test_forces_of_impulses_are_known_one_step_later():
    """The impulse acts after the forces: a force may look at the one before, and sees what was recorded."""
    load = f"contact.normal_force[{TIP}]"
    with pytest.raises(
        hs.ModelError, match=r"nothing matches the input contact\.normal_force.*there are: box/box/ground"
    ):
        graft(hs.Augment("joint.force", load, NET, apply="together"))
    pushes = hs.Augment("joint.force", hs.previous(load), hs.Linear(), apply="together", mode="replace")
    path = run(graft(pushes, scale=1e-3), ("joint.force", "contact.normal_force"), steps=20)
    force, load = np.asarray(path.values["joint.force"]), np.asarray(path.values["contact.normal_force"])[:, 0]
    assert load.max() > 0
    change, before = force[1:] - force[0], load[:-1]
    slope = change[before > 0][0] / before[before > 0][0]
    assert change == pytest.approx(before[:, None] * slope, rel=1e-9, abs=1e-9 * np.abs(change).max())


@pytest.mark.parametrize(
    ("augment", "message"),
    [
        (
            hs.Augment("contact.friction_force", (), NET, entities="tip*"),
            f"nothing matches 'tip\\*'; there are: {GROUND}",
        ),
        (hs.Augment("contact.impulse", (), NET, entities=GROUND), f"nothing matches '{GROUND}'; there are: {TIP}"),
        (hs.Augment("contact.impulse", "contact.stiffness", NET), f"'{TIP}' has no 'contact.stiffness' of its own"),
        (hs.Augment("contact.depth", (), NET, entities=TIP), f"there are: {GROUND}"),
    ],
)
def test_what_a_pair_does_not_have_is_refused(augment, message):
    with pytest.raises(hs.ModelError, match=message):
        hs.Blueprint(augment).graft(MODEL, contact=PUSH)


def test_a_hybrid_for_other_rules_is_refused():
    hybrid = hs.Blueprint(FRICTION).graft(MODEL, contact=PUSH)
    with pytest.raises(ValueError, match="pass the same contact= here as to graft"):
        hs.step(hybrid, START, dt=DT, contact=hs.Impulses())


def test_saved_and_loaded(tmp_path):
    hybrid = graft(FRICTION, IMPULSE, scale=0.1)
    hs.save_hybrid(hybrid, tmp_path / "push")
    assert np.array_equal(run(hs.load_hybrid(tmp_path / "push")).q, run(hybrid).q)


def test_derivatives_by_weights():
    """In both modes, against differences, with a network at each kind of pair."""
    hybrid = graft(FRICTION, IMPULSE, scale=0.05)
    other = shaken(hybrid, seed=1)

    def end(t):
        model = jax.tree.map(lambda x, y: x if np.array_equal(x, y) else x + t * (y - x), hybrid, other)
        return hs.rollout(model, START, dt=DT, steps=12, contact=PUSH).q[-1][0]

    run = jax.jit(end)
    slope = float(run(1e-5) - run(-1e-5)) / 2e-5
    assert slope != 0
    assert float(jax.jit(jax.jacfwd(end))(0.0)) == pytest.approx(slope, rel=1e-4)
    assert float(jax.jit(jax.grad(end))(0.0)) == pytest.approx(slope, rel=1e-4)
