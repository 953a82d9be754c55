"""Which shapes may touch: by kind, by mechanism, and what is said of those that may not."""

import warnings

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.contact.detect import PAIRS
from hybridsim.model.pairs import TOUCHING

FLOOR = '<geom name="floor" type="plane" size="1 1 1"/>'
CUBES = """
    <body name="low" pos="0 0 0.1"><freejoint/><geom name="low" type="box" size="0.1 0.1 0.1" mass="1"/></body>
    <body name="high" pos="0 0 0.35"><freejoint/><geom name="high" type="box" size="0.1 0.1 0.1" mass="1"/></body>"""
ARM = """
    <body name="base"><geom name="base" type="box" size="0.2 0.2 0.1"/>
      <body name="upper" pos="0 0 0.3"><joint name="shoulder" axis="0 1 0"/><geom name="upper" type="sphere" size="0.05"/>
        <body name="lower" pos="0 0 0.3"><joint name="elbow" axis="0 1 0"/><geom name="lower" type="sphere" size="0.05"/>
          <body name="hand" pos="0 0 0.3"><joint name="wrist" axis="0 1 0"/><geom name="hand" type="sphere" size="0.05"/>
    </body></body></body></body>"""
BALL = '<body name="ball" pos="0.1 0 1"><freejoint/><geom name="ball" type="sphere" size="0.03"/></body>'


def write(folder, *bodies, contact=""):
    path = folder / "scene.xml"
    path.write_text(f"<mujoco><worldbody>{''.join(bodies)}</worldbody>{contact}</mujoco>")
    return path


def touching(model):
    return {frozenset(model.geometry.names[i] for i in pair) for pair in model.contacts.pairs}


def test_shapes_that_may_touch_are_those_whose_contact_is_known():
    assert frozenset(PAIRS) == TOUCHING


def test_free_bodies_of_one_file_stand_on_each_other(tmp_path):
    """They passed through each other in silence."""
    model = hs.load(write(tmp_path, FLOOR, CUBES))
    end = hs.native.jit(lambda q, qd: hs.rollout(model, (q, qd), dt=2e-3, steps=400))(*model.rest())[-1]
    assert end.q[2] == pytest.approx(0.1, abs=1e-3)
    assert end.q[9] == pytest.approx(0.3, abs=1e-3)
    assert np.max(np.abs(end.qd)) < 1e-6


def test_a_free_body_touches_every_link_of_an_arm_also_its_fixed_base(tmp_path):
    model = hs.load(write(tmp_path, ARM, BALL), self_collision=False)
    assert touching(model) == {frozenset(("ball", other)) for other in ("base", "upper", "lower", "hand")}


def test_two_worlds_touch_as_two_mechanisms_of_one_file_do(tmp_path):
    whole = hs.load(write(tmp_path, ARM, BALL), self_collision=False)
    arm = hs.load(write(tmp_path, ARM), self_collision=False)
    ball = hs.load(write(tmp_path, BALL))
    assert touching(hs.world(arm, ball)) == touching(whole)


def test_pairs_left_out_within_a_mechanism_are_said(tmp_path):
    path = write(tmp_path, ARM, BALL)
    with pytest.warns(hs.ModelWarning, match=r"mechanism: 3 pairs \(lower with base, .*self_collision=True"):
        hs.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert frozenset(("base", "lower")) not in touching(hs.load(path, self_collision=False))
        everything = touching(hs.load(path, self_collision=True))
    assert {frozenset(("base", "lower")), frozenset(("base", "hand")), frozenset(("upper", "hand"))} <= everything
    assert frozenset(("upper", "lower")) not in everything  # a body and its parent


def test_pairs_that_the_file_excludes_are_not_missed(tmp_path):
    excludes = "".join(f'<exclude body1="hand" body2="{other}"/>' for other in ("base", "upper"))
    path = write(tmp_path, ARM, contact=f'<contact>{excludes}<exclude body1="base" body2="lower"/></contact>')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hs.load(path)
