"""<pair> and <exclude> of MJCF: pairs touch whatever the filters say, with their own friction."""

import numpy as np
import pytest

import hybridsim as hs

BODIES = """
  <body name="a" pos="0 0 1"><freejoint/><geom name="a" type="box" size=".1 .1 .1" {a}/></body>
  <body name="b" pos="0 0 2"><freejoint/><geom name="b" type="cylinder" size=".1 .1" {b}/></body>"""
SILENT = 'contype="0" conaffinity="0"'


def load(folder, contact: str, a: str = "", b: str = "", extra: str = "") -> hs.Model:
    path = folder / "scene.xml"
    path.write_text(
        f'<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>{extra}{BODIES.format(a=a, b=b)}</worldbody>'
        f"<contact>{contact}</contact></mujoco>"
    )
    return hs.load(path)


def frictions(model: hs.Model) -> dict[frozenset[str], float]:
    names = model.geometry.names
    pairs = [frozenset(names[i] for i in pair) for pair in model.contacts.pairs]
    assert len(set(pairs)) == len(pairs)
    return dict(zip(pairs, map(float, model.contacts.friction), strict=True))


def test_a_pair_has_its_own_friction(tmp_path):
    model = load(tmp_path, '<pair geom1="b" geom2="a" friction="0.2 0.2"/>', 'friction="0.7"', 'friction="0.8"')
    found = frictions(model)
    assert found[frozenset("ab")] == 0.2
    assert found[frozenset(("a", "floor"))] == 1.0


def test_a_pair_without_friction_has_that_of_mujoco_for_pairs(tmp_path):
    """Which is 1, whatever its geoms say."""
    model = load(tmp_path, '<pair geom1="a" geom2="b"/>', 'friction="0.7"', 'friction="0.8"')
    assert frictions(model)[frozenset("ab")] == 1.0


def test_shapes_that_collide_with_nothing_else_touch_in_their_pair(tmp_path):
    model = load(tmp_path, '<pair geom1="a" geom2="floor" friction="0.4 0.4"/>', SILENT, SILENT)
    assert frictions(model) == {frozenset(("a", "floor")): 0.4}
    end = hs.native.jit(lambda q, qd: hs.rollout(model, (q, qd), dt=2e-3, steps=400))(*model.rest())[-1]
    assert end.q[2] == pytest.approx(0.1, abs=1e-3)


def test_a_pair_without_friction_dimension_slides(tmp_path):
    model = load(tmp_path, '<pair geom1="a" geom2="floor" condim="1"/>')
    assert frictions(model)[frozenset(("a", "floor"))] == 0


def test_excluded_bodies_do_not_touch_unless_a_pair_says_so(tmp_path):
    exclude = '<exclude body1="a" body2="b"/>'
    assert frozenset("ab") not in frictions(load(tmp_path, exclude))
    both = load(tmp_path, exclude + '<pair geom1="a" geom2="b" friction="0.3 0.3"/>')
    assert frictions(both)[frozenset("ab")] == 0.3


def test_two_different_frictions_are_said(tmp_path):
    with pytest.warns(
        hs.ModelWarning, match=r"second sliding friction of a contact pair, first one used: 1 \(a with b\)"
    ):
        model = load(tmp_path, '<pair geom1="a" geom2="b" friction="0.3 0.5"/>')
    assert frictions(model)[frozenset("ab")] == 0.3


def test_a_pair_in_code_names_shapes_that_exist():
    ball = hs.Link("ball", 1.0, inertia=0.1, geoms=[hs.Geom("sphere", 0.1, name="ball")])
    joint = hs.Joint("free", "free", "world", "ball")
    floor = [hs.Geom("box", (1, 1, 1), name="floor")]
    model = hs.build([ball], [joint], world_geoms=floor, pairs=[("ball", "floor", 0.1)])
    np.testing.assert_allclose(model.contacts.friction, [0.1])
    with pytest.raises(hs.ModelError, match=r"'ball' with 'flor'.*no shape 'flor'.*floor, ball"):
        hs.build([ball], [joint], world_geoms=floor, pairs=[("ball", "flor", 0.1)])
    with pytest.raises(hs.ModelError, match=r"friction of 'ball' with 'floor'.*-1"):
        hs.build([ball], [joint], world_geoms=floor, pairs=[("ball", "floor", -1.0)])


@pytest.mark.parametrize("own", [0.9, 0.8], ids=["other than its shapes", "that of its shapes"])
def test_a_pair_that_is_fitted_to_the_friction_of_its_shapes_comes_back(tmp_path, own):
    """One friction for all pairs, as a tied number of a fit gives, replaces that of the <pair> too."""
    model = load(tmp_path, f'<pair geom1="a" geom2="b" friction="{own} {own}"/>', 'friction="0.7"', 'friction="0.8"')
    fitted = hs.with_contacts(model, friction=0.33)
    hs.save(fitted, tmp_path / "out.xml", like=tmp_path / "scene.xml")  # a warning would be an error
    assert set(frictions(hs.load(tmp_path / "out.xml")).values()) == {0.33}


def test_an_exclude_of_a_body_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(hs.ModelError, match=r"scene.xml: <exclude> names the body 'bb', which .*; bodies: world, a, b"):
        load(tmp_path, '<exclude body1="a" body2="bb"/>')
