"""fit.toml: every key is read, and whatever is wrong in it is one sentence that says where."""

import re
from pathlib import Path

import pytest

import hybridsim as hs
from hybridsim.calibrate import config_of, propose, read_config
from hybridsim.calibrate.load import bench_of
from hybridsim.calibrate.menu import EFFECTS
from hybridsim.data import DataError

from .arms import swinging, write_log

SHORT = """
[model]
file = "arm.urdf"
[logs]
training = ["a.csv"]
[fit]
free = ["link/*/mass"]
"""
LONG = """
[model]
file = "robots/arm.xml"
base = "free"
[logs]
training = ["a.csv", "/data/b.csv"]
held_out = ["../c.csv"]
held_out_part = 0.2
controls = "force"
[logs.columns]
"elbow.position" = "q2"
"elbow.velocity" = "none"
"shoulder.position" = 0
[logs.units]
position = "deg"
[fit]
window = 0.5
dt = 0.004
substeps = 3
integrator = "implicit"
friction_speed = 0.02
iterations = 17
free = [
  "joint/*/damping",
  { path = "link/*/mass", lower = 1, upper = 2.5, start = 2, tied = true, scale = "log", prior = [2, 1] },
  { path = "sensor/*/bias", per_run = true },
]
[discover]
effects = ["friction", "delay"]
least = 0.1
longest_delay = 0.08
[network]
train = false
hidden = [8, 4]
weight_spread = 0.5
[validate]
start = 0.2
"""


def refused(text: str) -> str:
    """Why a configuration is refused: one sentence that begins with its file."""
    with pytest.raises(DataError) as problem:
        config_of(text, Path("here"), "here/fit.toml")
    words = str(problem.value)
    assert words.startswith("here/fit.toml")
    assert "\n" not in words
    return words


def test_a_short_one_takes_the_defaults():
    config = config_of(SHORT, Path("here"))
    assert config.model_file == Path("here/arm.urdf")
    assert config.training == (Path("here/a.csv"),)
    assert config.held_out == ()
    assert config.free == (hs.Free("link/*/mass"),)
    assert (config.base, config.integrator, config.window, config.dt) == ("fixed", "auto", 1.0, None)
    assert config.effects == tuple(EFFECTS)
    assert config.network
    assert config.start == 0.1
    assert config.text == SHORT


def test_every_key_is_read():
    config = config_of(LONG, Path("here"))
    assert config.model_file == Path("here/robots/arm.xml")
    assert config.base == "free"
    assert config.training == (Path("here/a.csv"), Path("/data/b.csv"))
    assert [path.resolve() for path in config.held_out] == [Path("c.csv").resolve()]
    assert config.held_out_part == 0.2
    assert config.controls == "force"
    assert config.columns == (("elbow.position", "q2"), ("elbow.velocity", None), ("shoulder.position", 0.0))
    assert config.units == (("position", "deg"),)
    assert (config.window, config.dt, config.substeps, config.integrator) == (0.5, 0.004, 3, "implicit")
    assert (config.friction_speed, config.iterations) == (0.02, 17)
    assert config.free == (
        hs.Free("joint/*/damping"),
        hs.Free("link/*/mass", 1.0, 2.5, scale="log", start=2.0, tied=True, prior=(2.0, 1.0)),
        hs.Free("sensor/*/bias", per_run=True),
    )
    assert config.effects == ("friction", "delay")
    assert (config.least, config.longest_delay) == (0.1, 0.08)
    assert (config.network, config.hidden, config.weight_spread) == (False, (8, 4), 0.5)
    assert config.start == 0.2
    assert config_of(SHORT + '[validate]\nstart = "measured"', Path("here")).start == "measured"


def test_a_file_is_read_from_its_folder(tmp_path):
    path = tmp_path / "fit.toml"
    path.write_text(SHORT)
    assert read_config(path).model_file == tmp_path / "arm.urdf"
    with pytest.raises(DataError, match=r"there is no file .*nowhere.toml; `hybridsim init MODEL LOGS` writes one"):
        read_config(tmp_path / "nowhere.toml")
    path.write_bytes(b"\xff\xfe[model]")
    with pytest.raises(DataError, match=r"fit\.toml is not text in UTF-8"):
        read_config(path)


def test_a_proposal_is_read_as_it_was_meant(tmp_path, arm_file):
    logs = [write_log(tmp_path / f"{run}.csv", swinging(1.5)) for run in "ab"]
    config = config_of(propose(arm_file, logs, folder=tmp_path), tmp_path)
    assert config.model_file.resolve() == arm_file
    assert [path.resolve() for path in (*config.training, *config.held_out)] == logs
    assert config.window == 0.5
    assert dict(config.columns)["elbow.velocity"] == "elbow_velocity"
    assert [free.pattern for free in config.free] == [
        "link/upper_arm/mass",
        "link/forearm/mass",
        "joint/shoulder/damping",
        "joint/elbow/damping",
    ]
    assert config.free[0].lower == pytest.approx(2.36 / 5)
    assert config.free[0].upper == pytest.approx(2.36 * 5)
    assert config.effects == tuple(EFFECTS)
    assert config.network


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[fit]", "[fits]", "there is no section called 'fits'; did you mean 'fit'?"),
        (
            "[fit]",
            "[zzz]",
            "there is no section called 'zzz'; known are: model, logs, fit, floor, contact, discover, network, validate",
        ),
        ("[logs]", "[logs]\ntrainning = []", "no key in [logs] called 'trainning'; did you mean 'training'?"),
        ("[fit]", "[fit]\nwindows = 1", "no key in [fit] called 'windows'; did you mean 'window'?"),
        ("[fit]", "[fit]\nzzz = 1", "no key in [fit] called 'zzz'; known are: free, window"),
        ("[fit]", '[discover]\neffects = ["fricton"]\n[fit]', "no effect called 'fricton'; did you mean 'friction'?"),
        ("[fit]", "[discover]\neffects = [3]\n[fit]", "no effect called '3'; known are: friction, delay"),
        ("[fit]", '[fit]\nwindow = "1"', "fit.window is '1'; it must be a number"),
        ("[fit]", "[fit]\nwindow = true", "fit.window is True; it must be a number"),
        ("[fit]", "[fit]\nsubsteps = 1.5", "fit.substeps is 1.5; it must be a whole number"),
        ("[fit]", "[network]\ntrain = 1\n[fit]", "network.train is 1; it must be true or false"),
        ('["a.csv"]', '"a.csv"', "logs.training is 'a.csv'; it must be a list"),
        ('["a.csv"]', "[1]", "an entry of logs.training is 1; it must be a text"),
        ('"arm.urdf"', "3", "model.file is 3; it must be a text"),
        ("[logs]", '[logs]\ncolumns = "a"', "logs.columns is 'a'; it must be a table"),
        ("[fit]", "[validate]\nstart = []\n[fit]", "validate.start is []; it must be a number or a text"),
        ("[fit]", '[validate]\nstart = "best"\n[fit]', "validate.start is 'best'; it must be a time in seconds, or"),
        ("[model]", "x = 1\n[model]", "there is no section called 'x'"),
        ("[model]", "fit = 1\n[model]", "is not valid TOML"),
        ("[model]", "validate = 1\n[model]", "validate must be a section, [validate]"),
        ('file = "arm.urdf"', "", "has no file in [model]"),
        ('[model]\nfile = "arm.urdf"', "", "has no file in [model]"),
        ('training = ["a.csv"]', "", "has no training in [logs]"),
        ('["a.csv"]', "[]", "logs.training names no file"),
        ("[fit]", "[fit", "is not valid TOML"),
        ('"link/*/mass"', "", "fit.free is empty"),
        ("[logs]", '[logs]\nheld_out = ["a.csv"]', "a.csv is in logs.training and in logs.held_out"),
        ("[logs]", "[logs]\nheld_out_part = 0.95", "logs.held_out_part is 0.95; it must lie between 0 and 0.9"),
        ("[logs]", "[logs]\nheld_out_part = -0.1", "logs.held_out_part is -0.1"),
        ("[model]", '[model]\nbase = "loose"', "model.base is 'loose'; it must be 'fixed' or 'free'"),
        ("[fit]", '[fit]\nintegrator = "rk5"', "fit.integrator is 'rk5'; it must be 'auto' or 'rk4'"),
        ("[logs]", '[logs]\ncontrols = "forces"', "logs.controls is 'forces'; it must be 'command' or 'force'"),
        ('"link/*/mass"', "3", "fit.free has 3; give a path in quotes"),
        ('"link/*/mass"', "{ lower = 3 }", "fit.free has {'lower': 3}; give a path in quotes"),
        ('"link/*/mass"', '{ path = "m", uper = 3 }', "no key of a free number called 'uper'; did you mean 'upper'?"),
        ('"link/*/mass"', '{ path = "m", lower = 3, upper = 2 }', "lower is 3.0 and upper 2.0"),
        ('"link/*/mass"', '{ path = "m", scale = "lin" }', "scale is 'lin'; it must be 'linear' or 'log' or 'auto'"),
        ('"link/*/mass"', '{ path = "m", prior = [1] }', "prior of m is [1]; give [mean, standard deviation]"),
        ('"link/*/mass"', '{ path = "m", prior = [1, 0] }', "the standard deviation of its prior is 0.0"),
        ("[fit]", "[fit]\nwindow = nan", "fit.window is nan; it must be finite"),
        ("[fit]", "[fit]\nwindow = -1", "fit.window is -1; it must be a finite number, positive"),
        ("[fit]", "[fit]\ndt = 0", "fit.dt is 0; it must be a finite number, positive"),
        ("[fit]", "[fit]\nfriction_speed = -0.1", "fit.friction_speed is -0.1"),
        ("[fit]", "[discover]\nleast = inf\n[fit]", "discover.least is inf; it must be finite"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(before, after, said):
    assert before in SHORT
    assert said in refused(SHORT.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("[fit]", "[fit]\nsubsteps = 0", "fit.substeps"),
        ("[fit]", "[fit]\nsubsteps = -2", "fit.substeps"),
        ("[fit]", "[fit]\niterations = 0", "fit.iterations"),
        ("[fit]", "[discover]\nleast = -0.1\n[fit]", "discover.least"),
        ("[fit]", "[discover]\nlongest_delay = -0.1\n[fit]", "discover.longest_delay"),
        ("[fit]", "[network]\nweight_spread = 0\n[fit]", "network.weight_spread"),
        ("[fit]", '[network]\nhidden = ["six"]\n[fit]', "network.hidden"),
        ("[fit]", "[network]\nhidden = [0]\n[fit]", "network.hidden"),
        ("[fit]", "[validate]\nstart = -0.1\n[fit]", "validate.start"),
        ("[logs]", "[logs]\nunits = { position = 3 }", "logs.units"),
        ("[logs]", '[logs]\ncolumns = { "elbow.position" = [] }', "elbow.position"),
        ("[logs]", '[logs]\ncolumns = { "elbow.position" = true }', "elbow.position"),
        ("[logs]", '[logs]\nheld_out = ["./a.csv"]', "a.csv is in logs.training and in logs.held_out"),
        ("[logs]", '[logs]\nheld_out = ["b.csv", "b.csv"]', "b.csv"),
        ('"link/*/mass"', '{ path = "m", prior = ["a", 1] }', "prior of m"),
        ('"link/*/mass"', '{ path = "m", prior = [nan, 1] }', "prior of m"),
        ('"link/*/mass"', "{ path = 3 }", "path"),
    ],
)
def test_numbers_that_cannot_be_used_are_refused_before_anything_is_read(before, after, named):
    assert named in refused(SHORT.replace(before, after))


@pytest.mark.parametrize("missing", ["arm.urdf", "a.csv"])
def test_missing_model_or_logs_are_named(missing, tmp_path, arm_file):
    text = SHORT.replace("arm.urdf", str(arm_file)) if missing == "a.csv" else SHORT
    config = config_of(text, tmp_path)
    with pytest.raises((ValueError, OSError), match=re.escape(missing)):
        bench_of(config)


def test_a_question_mark_is_a_question(tmp_path, arm_file):
    asked = '[logs.columns]\n"elbow.position" = "?"\n[fit]'
    text = SHORT.replace("arm.urdf", str(arm_file)).replace("[fit]", asked)
    with pytest.raises(DataError, match=r"does not say yet which column is elbow.position: put the name"):
        bench_of(config_of(text, tmp_path))
