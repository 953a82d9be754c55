"""[contact] of fit.toml."""

import json
from pathlib import Path

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import config_of
from hybridsim.calibrate.load import bench_of
from hybridsim.cli import main
from hybridsim.data import DataError

BASE = """
[model]
file = "cube.xml"
[logs]
training = ["a.csv"]
[fit]
free = ["contact/*/friction"]
"""
RULES = """
[contact]
model = "none"
pairs = [
  { between = ["tip*", "object*"], model = "impulses" },
  { between = ["*", "ground"], model = "springs", friction = "coulomb" },
  { between = ["*", "wall"], model = "none" },
]
"""
BOB = """<mujoco><worldbody><geom name="ground" type="plane" size="1 1 1" pos="0 0 -.5" friction="0"/>
<body name="bob"><joint name="hinge" axis="0 1 0"/>
<geom name="bob" type="sphere" size=".1" pos=".5 0 0" friction="0"/></body></worldbody></mujoco>"""


def contact(section: str):
    return config_of(BASE + section, Path("here"), "here/fit.toml").contact


def test_rules_by_pair():
    assert contact(RULES) == hs.ContactByPair(
        {
            ("tip*", "object*"): hs.Impulses(),
            ("*", "ground"): hs.Springs(hs.HuntCrossley(), hs.Coulomb()),
            ("*", "wall"): None,
        },
        None,
    )
    default = contact('[contact]\npairs = [{ between = ["a", "b"], model = "springs" }]')
    assert default == hs.ContactByPair({("a", "b"): hs.Springs()}, hs.Impulses())


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("", "auto"),
        ('[contact]\nmodel = "auto"', "auto"),
        ('[contact]\nmodel = "springs"', hs.Springs()),
        ('[contact]\nmodel = "impulses"', hs.Impulses()),
        ('[contact]\nmodel = "none"', None),
    ],
)
def test_one_model_for_all(section, model):
    assert contact(section) == model


ENTRY = "[contact]\npairs = [{}]"
REFUSED = {
    '[contact]\nmodel = "soft"': "contact.model is 'soft'; it must be 'auto' or 'impulses' or 'springs' or 'none'",
    "[contact]\npairs = 3": "contact.pairs is 3; it must be a list",
    '[contact]\nrules = "x"': "there is no key in [contact] called 'rules'",
    ENTRY.format('"ground"'): "contact.pairs has 'ground'; each entry must be like { between = ",
    ENTRY.format(
        '{ between = ["a"], model = "springs" }'
    ): "contact.pairs has {'between': ['a'], 'model': 'springs'}; each",
    ENTRY.format('{ between = ["a", "b"] }'): "model of an entry of contact.pairs is None; it must be 'impulses' or",
    ENTRY.format('{ between = ["a", "b"], model = ["x"] }'): "model of an entry of contact.pairs is ['x']; it must be",
    ENTRY.format(
        '{ between = ["a", "b"], model = "springs", friction = "dry" }'
    ): "is 'dry'; it must be 'brown_mcphee' or",
    ENTRY.format('{ between = ["a", "b"], model = "springs", friction = [1] }'): "is [1]; it must be 'brown_mcphee' or",
    ENTRY.format(
        '{ between = ["a", "b"], model = "impulses", friction = "coulomb" }'
    ): "is a law of springs, but the model",
    ENTRY.format('{ between = ["a", "b"], model = "springs", stiffness = 3 }'): "contact.pairs has the key 'stiffness'",
    ENTRY.format(
        '{ between = ["a", "b"], model = "springs" }, { between = ["a", "b"], model = "none" }'
    ): "contact.pairs names ['a', 'b'] twice",
}


@pytest.mark.parametrize("section", REFUSED)
def test_what_is_wrong_is_said(section):
    with pytest.raises(DataError) as problem:
        contact(section)
    assert str(problem.value).startswith("here/fit.toml: ")
    assert REFUSED[section] in str(problem.value)


def test_a_run_works_with_the_rules(tmp_path):
    """And says before it compiles anything which names match nothing."""
    (tmp_path / "cube.xml").write_text(BOB)
    time = 0.01 * np.arange(50)
    table = np.column_stack([time, np.sin(time), np.cos(time)])
    np.savetxt(tmp_path / "a.csv", table, "%.17g", ",", header="time,hinge_position,hinge_velocity", comments="")
    text = BASE + '[contact]\npairs = [{ between = ["bob", "GROUND"], model = "springs", friction = "coulomb" }]'
    rules = {("bob", "ground"): hs.Springs(hs.HuntCrossley(), hs.Coulomb())}
    assert bench_of(config_of(text.replace("GROUND", "ground"), tmp_path)).contact == hs.ContactByPair(rules)
    with pytest.raises(hs.ModelError, match="matches 'GROUND'; shapes: ground, bob"):
        bench_of(config_of(text, tmp_path))


def test_a_model_of_a_run_is_simulated_with_its_rules(tmp_path, capsys):
    """The bob swings down onto the ground, deeper into soft than into hard ground."""
    model = tmp_path / "bob.xml"
    model.write_text(BOB)
    run = tmp_path / "run"
    run.mkdir()
    hs.save_hybrid(hs.load(model), run / "model.hybrid")
    (run / "summary.json").write_text("{}")
    lowest = {}
    for word in ("impulses", "springs", "none"):
        rules = f'[contact]\npairs = [{{ between = ["bob", "ground"], model = "{word}" }}]'
        (run / "fit.toml").write_text(BASE + rules)
        assert main(["simulate", str(run), "--seconds", "0.4", "--dt", "2e-4", "--json"]) == 0
        (hinge,) = json.loads(capsys.readouterr().out)["positions"]
        lowest[word] = hinge["highest"]
    touch = np.arcsin(0.4 / 0.5)
    assert lowest["impulses"] == pytest.approx(touch, abs=1e-4)
    assert touch + 1e-3 < lowest["springs"] < lowest["none"] - 0.1
    assert lowest["none"] > touch + 0.2
