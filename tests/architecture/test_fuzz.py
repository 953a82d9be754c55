"""`make fuzz` ends in time, and says how to repeat what fails."""

import time

import fuzz

FAILING = "def test_it():\n    assert False, 'found something'\n"
ENDLESS = "import time\n\ndef test_it():\n    time.sleep(1000)\n"


def prepared(monkeypatch, tmp_path, text: str) -> None:
    (tmp_path / "test_it.py").write_text(text)
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    monkeypatch.setattr(fuzz, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(fuzz, "JOBS", {"the job": [str(tmp_path / "test_it.py"), "-p", "no:cacheprovider"]})


def test_failures_are_kept_with_the_command_that_repeats_them(monkeypatch, tmp_path, capsys):
    prepared(monkeypatch, tmp_path, FAILING)
    seeds = iter([17])

    def one_seed_then_ctrl_c(_):
        for seed in seeds:
            return seed
        raise KeyboardInterrupt

    monkeypatch.setattr(fuzz.secrets, "randbelow", one_seed_then_ctrl_c)
    assert fuzz.main(minutes=5) == 1
    said = capsys.readouterr().out
    assert "seed 17: the job: FAILED" in said
    assert f"--hypothesis-seed=17 {tmp_path / 'test_it.py'}" in said
    assert "0 random programs with" in said
    assert "found something" in (tmp_path / "logs/17 the job.log").read_text()


def test_it_ends_when_the_time_is_up(monkeypatch, tmp_path, capsys):
    prepared(monkeypatch, tmp_path, ENDLESS)
    began = time.monotonic()
    assert fuzz.main(minutes=0.05) == 0
    assert time.monotonic() - began < fuzz.PATIENCE
    assert "out of time" in capsys.readouterr().out
    assert not list((tmp_path / "logs").iterdir())
