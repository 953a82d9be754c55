"""A fit.toml that asks for too much, or is made to stop the reader, is refused in a sentence."""

import os
import time

import pytest

from hybridsim.calibrate import config_of, read_config
from hybridsim.calibrate.config import LARGEST_CONFIG
from hybridsim.data import DataError

GOOD = '[model]\nfile = "a.urdf"\n[logs]\ntraining = ["a.csv"]\n[fit]\nfree = ["link/*/mass"]\n'
DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + "[network]\nhidden = [100000000]", r"network\.hidden is \[100000000\], 200000000 weights or more"),
        (GOOD + "[network]\nhidden = [1000, 1000]", "1002000 weights"),
        (GOOD + f"[network]\nhidden = [{'1, ' * 30_000}]", r"weights or more .* such as \[6\]"),
        (
            GOOD + "iterations = 1000000000000000000",
            r"fit\.iterations is 1000000000000000000; it must be a whole number",
        ),
        (GOOD + "iterations = 1e18", "whole number"),
        (GOOD + "substeps = 1000000000", r"fit\.substeps is 1000000000"),
        (GOOD + f"iterations = {'9' * 10_000}", "not valid TOML"),
        (GOOD + f"iterations = 0x{'f' * 100_000}", "a number of 400000 bits"),
        (GOOD + f"window = 0x{'f' * 100_000}", "a number of 400000 bits"),
        (GOOD + f"free2 = {'[' * DEEP}{']' * DEEP}", "inside each other without end"),
        (GOOD + f"free2 = {'{a=' * DEEP}1{'}' * DEEP}", "inside each other without end"),
        (GOOD + "a." * DEEP + "b = 1", "a key of more than 16 parts"),
        (GOOD + "'a' . " * DEEP + "b = 1", "a key of more than 16 parts"),
        (GOOD + '"a b".' * DEEP + "b = 1", "a key of more than 16 parts"),
        (GOOD + f"[{'a.' * DEEP}b]", "a key of more than 16 parts"),
        (GOOD + "a" * 900_000 + " = 1", "there is no key"),
        (GOOD + f"window = '{'a' * 900_000}'", r"fit\.window is 'aaa.*\.\.\.; it must be a number"),
        (GOOD.replace('"a.csv"', '"a", ' * 150_000), r"logs\.training names 150000 files; at most 10000"),
        (GOOD + "[discover]\nlongest_delay = 1e9", "longest_delay is 1000000000.0; it must be a time"),
    ],
)
def test_too_much(text, words, tmp_path):
    began = time.process_time()
    with pytest.raises(DataError, match=words) as caught:
        config_of(text, tmp_path)
    assert len(str(caught.value)) < 500
    assert time.process_time() - began < 5


def test_what_is_no_small_file(tmp_path):
    os.mkfifo(tmp_path / "fit.toml")
    with pytest.raises(DataError, match="is a pipe and not a file"):
        read_config(tmp_path / "fit.toml")
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(LARGEST_CONFIG + 1)
    with pytest.raises(DataError, match=r"at most 1\.05 MB are read"):
        read_config(tmp_path / "large.toml")


def test_many_logs_and_deep_paths_are_no_attack(tmp_path):
    logs = ", ".join(f'"../../data/2024.01.{i}/robot.1/arm.v2.run.csv"' for i in range(5000))
    config = config_of(GOOD.replace('"a.csv"', logs) + "[network]\nhidden = [64, 64]", tmp_path)
    assert len(config.training) == 5000
