"""`hybridsim fit`: which files, which folder, what is printed, and how it ends. Fitting itself is stood in for."""

import errno
import json
import os
from pathlib import Path

import pytest

from hybridsim.cli import main

from .summaries import parameter, summary_of

CONFIG = """
[model]
file = "{arm}"
[logs]
training = ["swing.csv"]
[fit]
free = ["link/*/mass"]
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def config(tmp_path, arm_file) -> Path:
    path = tmp_path / "fit.toml"
    path.write_text(CONFIG.format(arm=arm_file))
    return path


def test_a_run_is_told_on_one_screen(config, main_job, capsys):
    main_job.summary = summary_of(parameters=[parameter(f"p{i}", 2.0, 0.1 * (i + 1), 1.0) for i in range(10)])
    assert main(["fit", "fit.toml"]) == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines() if line.strip()]
    assert ["as", "in", "the", "file", "11.5", "22.9"] in lines
    assert ["with", "friction", "0.229", "0.458", "50"] in lines
    assert "- force at joint elbow is [dry] friction" in printed
    assert ["p0", "1", "2.00", "1.80", "to", "2.20", "kg"] in lines
    assert "2 more are in parameters.json." in printed
    assert "p9" not in printed
    assert printed.splitlines()[-1] == "Report: out/fit/report.html"
    ((asked, folder, resume),) = main_job.calls
    assert (folder, resume) == (Path("out/fit"), False)
    assert asked.training == (Path("swing.csv"),)
    assert (folder / "fit.toml").read_text().endswith(config.read_text())


def test_json_is_alone_on_stdout(config, main_job, capsys):
    assert main(["fit", "fit.toml", "--out", "here", "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert record == main_job.summary | {"folder": "here", "report": "here/report.html"}
    assert captured.err == "someone prints\n"


def test_model_and_logs_are_proposed_and_kept(swing, arm_file, main_job, capsys):
    command = ["fit", str(arm_file), "swing.csv"]
    assert main(command) == 0
    kept = Path("out/two_link_arm/fit.toml")
    assert "shoulder_pos" in kept.read_text()
    asked = main_job.calls[0][0]
    assert [path.resolve() for path in asked.training] == [swing.resolve()]
    assert main(command) == 2
    assert "out/two_link_arm/fit.toml is there already" in capsys.readouterr().err
    kept.write_text(kept.read_text().replace("window = ", "window = 0.25 # "))
    assert main([*command, "--resume"]) == 0
    assert main_job.calls[1][0].window == 0.25
    assert main_job.calls[1][2] is True


def test_a_folder_is_not_overwritten(config, main_job, capsys):
    out = Path("out/fit")
    out.mkdir(parents=True)
    (out / "precious").write_text("")
    assert main(["fit", "fit.toml"]) == 2
    assert capsys.readouterr().err == (
        "hybridsim: out/fit is not empty; give --resume to go on with this run, --force to begin anew, or another --out\n"
    )
    assert main(["fit", "fit.toml", "--force"]) == 0
    assert (out.with_name("fit.1") / "precious").exists()
    assert not (out / "precious").exists()
    assert "what was in out/fit is now in" in capsys.readouterr().err
    assert main(["fit", "fit.toml", "--force"]) == 0
    assert (out.with_name("fit.2") / "summary.json").exists()
    # A configuration that lies in the folder itself is not lost.
    assert main(["fit", "out/fit/fit.toml", "--out", "out/fit", "--force"]) == 0
    assert (out / "fit.toml").exists()


def test_what_wrong_input_leaves_is_no_run(config, main_job, capsys):
    main_job.problem = ValueError("swing.csv has no column 'a'")
    assert main(["fit", "fit.toml"]) == 2
    Path("out/fit/progress").mkdir()
    main_job.problem = None
    assert main(["fit", "fit.toml"]) == 0


def test_ctrl_c_says_how_to_go_on(config, main_job, capsys):
    main_job.problem = KeyboardInterrupt()
    said = (
        "hybridsim: interrupted; what was finished is in out/fit, and this goes on from there: "
        "hybridsim fit fit.toml --out out/fit --resume\n"
    )
    assert main(["fit", "fit.toml"]) == 130
    assert capsys.readouterr().err == said
    main_job.problem, main_job.stopped = None, True
    assert main(["fit", "fit.toml", "--resume", "--out", "out/fit"]) == 130
    captured = capsys.readouterr()
    assert captured.err == said
    assert "Report:" in captured.out


def test_a_full_disk_is_one_sentence(config, main_job, capsys):
    main_job.problem = OSError(errno.ENOSPC, "No space left on device")
    assert main(["fit", "fit.toml"]) == 2
    assert capsys.readouterr().err == "hybridsim: out/fit: No space left on device\n"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_sentence(config, main_job, capsys):
    Path("locked").mkdir(mode=0o500)
    assert main(["fit", "fit.toml", "--out", "locked/run"]) == 2
    assert capsys.readouterr().err == "hybridsim: locked/run: Permission denied\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to fit"),
        (["nowhere.toml"], "there is no file nowhere.toml; `hybridsim init MODEL LOG ...` writes one"),
        (["folder.toml"], "folder.toml is a folder"),
        (["fit.toml", "swing.csv"], "fit.toml names its logs itself"),
        (
            ["broken.toml"],
            "broken.toml is not valid TOML: Expected '=' after a key in a key/value pair (at line 2, column 6)",
        ),
        (["typo.toml"], "did you mean 'free'?"),
        (["fixed.toml"], "fit.free is empty"),
        (["unnamed.toml"], "is named for elbow.position; name it under [logs.columns]"),
        (["fit.toml", "--resume"], "there is no run to resume in out/fit"),
        (["fit.toml", "--resume", "--force"], "give one of them"),
        (["fit.toml", "--out", "fit.toml"], "fit.toml is a file; give a folder"),
        (["fit.toml", "--out", "/proc/none"], "/proc/none"),
        (["ARM"], "needs logs"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said, config, main_job, arm_file, capsys):
    text = config.read_text()
    Path("folder.toml").mkdir()
    Path("broken.toml").write_text("[fit]\nfree ]")
    Path("typo.toml").write_text(text.replace("free", "fre"))
    Path("fixed.toml").write_text(text.replace('"link/*/mass"', ""))
    Path("unnamed.toml").write_text(text.replace("[fit]", '[logs.columns]\n"elbow.position" = "?"\n[fit]'))
    assert main(["fit", *(str(arm_file) if word == "ARM" else word for word in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert main_job.calls == []
