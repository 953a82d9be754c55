"""What asks for too much is refused by the command line: exit code 2, one sentence, little memory, little time.

All cases run one after the other in one other process, because starting one takes seconds.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .bombs import LOGS, ROBOT, csv_of_one_line, zip_of_zeros

MOST_MEMORY, MOST_SECONDS = 1e9, 5.0
TOML = '[model]\nfile = "robot.urdf"\n[logs]\ntraining = ["run.csv"]\n[fit]\nfree = ["link/arm/mass"]\n'
PROGRAM = """
import contextlib, io, json, os, re, sys, time
from hybridsim import cli
import hybridsim.calibrate, hybridsim.view.report
for name, arguments in json.load(open(sys.argv[1])).items():
    said = io.StringIO()
    began = time.process_time()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = cli.main(arguments)
    # Not ru_maxrss, which begins with the size of the process that started this one.
    memory = 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
    found = {"code": code, "said": said.getvalue(), "seconds": time.process_time() - began, "memory": memory}
    print(json.dumps([name, found]), flush=True)
"""


def others(folder: Path) -> dict[str, tuple[list[str], str]]:
    """Arguments of the command and what it says, of files that are no logs."""
    good = folder / "run.csv"
    good.write_text("time,elbow.position\n" + "".join(f"{k / 100},{k % 7}\n" for k in range(400)))

    def written(name: str, text: str) -> str:
        (folder / name).write_text(text)
        return str(folder / name)

    def robot(name: str, mesh: str) -> str:
        shape = f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision>'
        return written(name, ROBOT.format(shape))

    written("robot.urdf", ROBOT.format(""))
    zip_of_zeros(folder / "mesh.zip", "mesh.stl", b"", 2**30)
    os.mkfifo(folder / "pipe.urdf")
    os.mkfifo(folder / "pipe.csv")
    os.mkfifo(folder / "pipe.hybrid")
    os.mkfifo(folder / "pipe.toml")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "zero.urdf").symlink_to("/dev/zero")
    (folder / "run").mkdir()
    written("run/summary.json", "[" * 10**6)
    many = "<mujoco><worldbody><replicate count='1000000000'><body><joint/><geom size='1'/></body></replicate></worldbody></mujoco>"
    field = "<mujoco><asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset><worldbody/></mujoco>"
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    cases = {
        "toml of depth": (["fit", written("a.toml", f"{TOML}x = {'[' * 10**5}")], "inside each other"),
        "toml of parts": (["fit", written("b.toml", TOML + "a." * 10**5 + "b = 1")], "more than 16 parts"),
        "wide network": (["fit", written("c.toml", TOML + "[network]\nhidden = [100000000]")], r"network\.hidden is"),
        "iterations": (["fit", written("d.toml", f"{TOML}iterations = {10**18}")], r"fit\.iterations is"),
        "step": (["fit", written("e.toml", f"{TOML}dt = 1e-9")], "samples"),
        "mesh": (["info", robot("f.urdf", "mesh.zip")], "has 1.07 GB when unpacked, at most 200 MB"),
        "copies": (["info", written("g.xml", many)], "elements or more"),
        "field": (["info", written("h.xml", field)], "asks for 10000000000 numbers"),
        "entities": (
            ["info", written("i.urdf", f"<!DOCTYPE r [<!ENTITY l0 'ha'>{laughs}]><robot>&l9;</robot>")],
            "entit",
        ),
        "summary": (["compare", str(folder / "run"), str(folder / "run")], "inside each other"),
    }
    for name in ("pipe.urdf", "zero.urdf", "pipe.hybrid"):
        cases[name] = (["info", str(folder / name)], "is a (pipe|device)")
    for name in ("pipe.csv", "zero.csv"):
        cases[name] = (["init", str(folder / "robot.urdf"), str(folder / name)], "is a (pipe|device)")
    cases["pipe.toml"] = (["fit", str(folder / "pipe.toml")], "is a pipe")
    return cases


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> dict[str, tuple[list[str], str]]:
    pytest.importorskip("pyarrow")
    pytest.importorskip("mcap")
    folder = tmp_path_factory.mktemp("bombs")
    found = others(folder)
    for i, (name, (file, write, words)) in enumerate(LOGS.items()):
        (folder / str(i)).mkdir()
        write(folder / str(i) / file)
        found[name] = (
            ["init", str(folder / "robot.urdf"), str(folder / str(i) / file), "--out", str(folder / "x.toml")],
            words,
        )
    return found


@pytest.fixture(scope="module")
def outcomes(cases, tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("run")
    (folder / "cases.json").write_text(json.dumps({name: arguments for name, (arguments, _) in cases.items()}))
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder / "cases.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return dict(map(json.loads, run.stdout.splitlines()))


def test_each_is_one_sentence_and_exit_code_two(cases, outcomes):
    wrong = {}
    for name, (_, words) in cases.items():
        found = outcomes[name]
        said = found["said"].strip()
        fits = found["code"] == 2 and said.startswith("hybridsim: ") and "\n" not in said and len(said) < 800
        if not (fits and re.search(words, said)):
            wrong[name] = found["code"], said[:300]
    assert wrong == {}


def test_none_takes_much_memory_or_time(outcomes):
    slow = {name: found["seconds"] for name, found in outcomes.items() if found["seconds"] > MOST_SECONDS}
    assert slow == {}
    # It never falls, so the last is the largest.
    large = {name: found["memory"] for name, found in outcomes.items() if found["memory"] > MOST_MEMORY}
    assert large == {}


def test_the_bombs_are_bombs(tmp_path):
    """The zip that is written by hand is one that Python unpacks."""
    import zipfile

    zip_of_zeros(tmp_path / "a.zip", "x", b"start", 3 * 2**20)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive, archive.open("x") as file:
        file._expected_crc = None
        assert file.read() == b"start" + bytes(3 * 2**20)
    csv_of_one_line(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").stat().st_size == 300 * 2**20
