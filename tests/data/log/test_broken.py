# ruff: noqa: E501, RUF001, RUF005  (tables of damage read best with one case a line)
"""Broken logs: every kind of damage is either repaired, said and right, or refused with the place and the fix."""

import re

import numpy as np
import pytest

from hybridsim.data import DataError

from .truth import DT, NAMES, ROWS, agrees, lines, read, table, write


def edited(row: int, column: int, text: str) -> list[str]:
    """The clean file with one cell replaced; row 0 is the first with data."""
    result = lines()
    cells = result[row + 1].split(",")
    cells[column] = text
    result[row + 1] = ",".join(cells)
    return result


def changed(edit) -> list[str]:
    data = table()
    data = out if (out := edit(data)) is not None else data
    return lines(data)


def put(data, where, value):
    data[where] = value


def renamed(**names: str) -> list[str]:
    return lines(names=[names.get(n, n) for n in NAMES])


def doubled(data):
    return data[np.sort(np.concatenate([np.arange(ROWS), [50, 120]]))]


def times(factor_of: dict[int, float]):
    def edit(data):
        for column, factor in factor_of.items():
            data[:, column] *= factor

    return edit


def wrapped(low: float, period: float, speed: float = 20.0):
    def edit(data):
        data[:, 1] = np.mod(speed * data[:, 0] - low, period) + low

    return edit


# Repaired: name, text of the file, what is said, which samples must be masked or gone, options.
REPAIRED = {
    "empty cell": (edited(40, 1, ""), "1 cells are no number", {}),
    "nan": (edited(40, 2, "NaN"), "elbow.position .* no number .*row 42", {}),
    "word for missing": (edited(40, 2, "n/a"), "no number", {}),
    "inf": (edited(41, 1, "inf"), "infinite", {}),
    "minus inf": (edited(41, 3, "-inf"), "shoulder.velocity .* infinite", {}),
    "absurd number": (edited(41, 3, "1e300"), "infinite", {}),
    "overflow": (edited(41, 3, "1e999"), "infinite", {}),
    "text in a cell": (edited(41, 5, "ERR"), "such as 'ERR'", {}),
    "number with a letter": (edited(41, 5, "0.1x2"), "left out 1 broken rows .row 43: '0.1x2' in column", {}),
    "number with two points": (edited(41, 1, "0.1.2"), "'0.1.2' in column 'shoulder_pos' is no number", {}),
    "underscore in a number": (edited(41, 1, "1_000"), "'1_000'", {}),
    "digits of another script": (edited(41, 1, "٣.١"), "is no number", {}),
    "nul byte": (edited(41, 1, "0.1\x00"), "is no number", {}),
    "marker -999": (changed(lambda d: put(d, (slice(60, 64), 2), -999.0)), "4 cells are a marker", {}),
    "marker 65535": (changed(lambda d: put(d, (60, 4), 65535.0)), "a marker for no value", {}),
    "one spike": (edited(70, 1, "3.000000"), "single wild samples, such as 3 at row 72", {}),
    "spike of velocity": (edited(70, 4, "55"), "elbow.velocity .* single wild", {}),
    "row too short": (lines()[:50] + ["0.49,0.1"] + lines()[51:], "2 cells instead of 7", {}),
    "row too long": (lines()[:50] + [lines()[50] + ",1,2"] + lines()[51:], "row 51: 9 cells instead of 7", {}),
    "two lines joined": (
        lines()[:50] + [lines()[50] + lines()[51]] + lines()[52:],
        "13 cells instead of 7",
        {},
    ),
    "line torn in two": (
        lines()[:50] + [lines()[50][:25], lines()[50][25:]] + lines()[51:],
        "left out 2 broken rows",
        {},
    ),
    "garbage line": (lines()[:50] + ["\x02\x03 rebooting..."] + lines()[50:], "1 cells instead of 7", {}),
    "open quote": (
        [line if i != 50 else '"' + line for i, line in enumerate(lines())],
        "left out 1 broken rows",
        {},
    ),
    "repeated header": (lines()[:50] + lines()[:1] + lines()[50:], "header is repeated 1 times", {}),
    "lines before the header": (["Log of arm 7", "operator: X", *lines()], "skipped 2 lines", {}),
    "row twice": (changed(doubled), "2 rows that are there twice", {}),
    "stamp repeated, other values": (edited(50, 0, "0.490000000"), "stamp of the row before but other values", {}),
    "rows swapped": (lines()[:50] + [lines()[51], lines()[50]] + lines()[52:], "1 rows that came late", {}),
    "one stamp zero": (edited(90, 0, "0.0"), "1 rows with a wrong stamp .row 92", {}),
    "one stamp far ahead": (edited(90, 0, "1.6e9"), "1 rows with a wrong stamp .row 92", {}),
    "last stamp far ahead": (edited(ROWS - 1, 0, "1.6e9"), "far away in time", {}),
    "stamp missing": (edited(90, 0, ""), "1 rows without a stamp .row 92", {}),
    "stamp is text": (edited(90, 0, "soon"), "without a stamp", {}),
    "hole in time": (lines()[:80] + lines()[120:], "1 holes in time, the first of 0.41 s after row 80", {}),
    "column twice, same numbers": (
        [line + "," + line.split(",")[1] for line in lines()],
        "'shoulder_pos' is there twice",
        {},
    ),
    "one velocity missing": (renamed(elbow_vel="aux"), "no column for elbow.velocity", {}),
    "given unit contradicts the header": (
        renamed(shoulder_pos="shoulder_pos [deg]"),
        "units= says rad, column 'shoulder_pos .deg.' says deg",
        {"units": {"position": "rad"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired_and_said(name, tmp_path, arm):
    text, said, options = REPAIRED[name]
    trajectory, warning = read(write(tmp_path, text), arm, **options)
    assert re.search(said, warning), warning
    assert agrees(trajectory)
    assert len(trajectory) > 0.75 * ROWS
    assert trajectory.q_mask.mean() > 0.9


def comma_decimals():
    return [line.replace(".", ",") for line in lines(separator=";")]


# Other forms of a sound file: nothing to warn of.
FORMS = {
    "semicolons and decimal commas": (comma_decimals(), {}),
    "tabs": (lines(separator="\t"), {}),
    "blanks": (lines(separator="   "), {}),
    "bars": (lines(separator="|"), {}),
    "byte order mark": (("\n".join(lines()) + "\n").encode("utf-8-sig"), {}),
    "utf-16": (("\n".join(lines()) + "\n").encode("utf-16"), {}),
    "windows lines": (("\r\n".join(lines()) + "\r\n").encode(), {}),
    "old mac lines": (("\r".join(lines()) + "\r").encode(), {}),
    "comments": (["# robot 7", "% second", *lines()[:50], "# pause", *lines()[50:]], {}),
    "header in a comment": (["# " + lines()[0], *lines()[1:]], {}),
    "blank lines": ([x for line in lines() for x in (line, "")], {}),
    "separator at the end": ([line + "," for line in lines()], {}),
    "quoted cells": ([",".join(f'"{c}"' for c in line.split(",")) for line in lines()], {}),
    "line of units": ([lines()[0], "s,rad,rad,rad/s,rad/s,Nm,Nm", *lines()[1:]], {}),
    "no header": (lines()[1:], {"header": NAMES}),
    "no stamps": ([",".join(line.split(",")[1:]) for line in lines()], {"dt": DT}),
    "column of text": ([line + (",mode" if i == 0 else ",RUN") for i, line in enumerate(lines())], {}),
    "numbered columns": (lines(names=["t", "q1", "q2", "dq1", "dq2", "tau1", "tau2"]), {}),
    "numbered from 0": (lines(names=["t", "q0", "q1", "qd0", "qd1", "tau0", "tau1"]), {}),
    "named by topic": (
        lines(names=["/joint_states/time", *(f"/joint_states/{j}/{w}" for w in ("position", "velocity", "effort") for j in ("shoulder", "elbow"))]),
        {"columns": {"time": "/joint_states/time"}},
    ),
    "greek": (lines(names=["time", "theta1", "theta2", "theta1_dot", "theta2_dot", "torque1", "torque2"]), {}),
    "words in front": (lines(names=["stamp", "q_shoulder", "q_elbow", "dq_shoulder", "dq_elbow", "torque.shoulder", "torque.elbow"]), {}),
    "degrees": (
        lines(table() * np.array([1, *[180 / np.pi] * 4, 1, 1]), ["time", "shoulder_pos [deg]", "elbow_pos_deg", "shoulder_vel (deg/s)", "elbow_vel_deg_s", *NAMES[5:]]),
        {},
    ),
    "rpm, turns and mNm": (
        lines(table() * np.array([1e3, *[1 / (2 * np.pi)] * 2, *[60 / (2 * np.pi)] * 2, 1e3, 1e3]), form="{:.12f}"),
        {"units": {"time": "ms", "position": "turns", "velocity": "rpm", "force": "mNm"}},
    ),
    "nanoseconds since 1970": (lines(table() * np.array([1e9] + [1] * 6) + np.array([1.7e18] + [0] * 6)), {}),
    "seconds since 1970": (lines(table() + np.array([1.7e9] + [0] * 6)), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_forms_without_damage(name, tmp_path, arm):
    text, options = FORMS[name]
    trajectory, warning = read(write(tmp_path, text), arm, **options)
    assert warning == ""
    tolerance = 1e-6 if "1970" in name else 2e-9
    if "1970" in name:
        object.__setattr__(trajectory, "time", np.round(trajectory.time, 6))
    assert len(trajectory) == ROWS
    assert agrees(trajectory, tolerance)
    assert trajectory.q_mask.all()
    assert trajectory.qd_mask.all()
    assert trajectory.controls_mask.all()


REFUSED = {
    "empty file": (b"", "is empty", {}),
    "only blanks": (b"\n \n\n", "is empty", {}),
    "only comments": (b"# a\n# b\n", "is empty", {}),
    "only a header": (lines()[:1], "no rows of data", {}),
    "one row": (lines()[:2], "1 usable rows|no rows|2 or more", {}),
    "one column": (["time", *(str(t) for t in range(9))], "no separator", {}),
    "no header": (lines()[1:], "so there is no header.*header=", {}),
    "wrong number of names": (lines()[1:], "header= has 2 names, but its rows have 7", {"header": ["time", "q1"]}),
    "header of other length": ([",".join(NAMES[:-1]), *lines()[1:]], "no header", {}),
    "binary": (bytes(range(256)) * 20, "is not text", {}),
    "zip under another name": (b"PK\x03\x04" + b"a" * 100, "is not text", {}),
    "prose": (b"Dear reader\nthis is no log\nnot at all\n", "no rows of data", {}),
    "decimal commas between commas": ([lines()[0], *(line.replace(".", ",") for line in lines()[1:])], "header", {}),
    "most rows broken": ([line if i % 2 else line + ",1" for i, line in enumerate(lines(), 1)], "rows are like this|header", {}),
    "no time": (renamed(time="counter"), "no column was recognised as time.*dt=0.001", {}),
    "two times": (renamed(tau_elbow="timestamp"), "time may be any of the columns 'time', 'timestamp'.*columns=", {}),
    "time not numbers": (changed(lambda d: put(d, (slice(None), 0), np.nan)), "no numbers", {}),
    "constant time": (changed(lambda d: put(d, (slice(None), 0), 1.0)), "usable stamp|clock is too coarse", {}),
    "coarse clock": (changed(lambda d: put(d, (slice(None), 0), np.floor(d[:, 0] * 20) / 20)), "too coarse; give dt=", {}),
    "milliseconds not said": (changed(times({0: 1e3})), "say the unit: units=.'time': 'ms'", {}),
    "two runs in one file": (lines() + lines()[1:], "time goes back from 1.99 s to 0 s at row 202.*rows=slice\\(0, 200\\)", {}),
    "unknown unit": (renamed(elbow_pos="elbow_pos [furlong]"), "unit 'furlong' is not known; the units are", {}),
    "unit of something else": (renamed(elbow_pos="elbow_pos [Nm]"), "position of this joint cannot be in Nm", {}),
    "megawhat": (renamed(tau_elbow="tau_elbow [MNm]"), "unit 'MNm' is not known", {}),
    "unknown unit given": (lines(), "unit 'grads' is not known", {"units": {"position": "grads"}}),
    "unit for what is not there": (lines(), "units= names 'elbow.positon', which is not one of", {"units": {"elbow.positon": "deg"}}),
    "joint not there": (renamed(elbow_pos="knee_pos"), "no column was recognised as elbow.position; .*columns=.'elbow.position'", {}),
    "misspelt joint in columns": (lines(), "'elbo.position', which this model does not have; it has: time, shoulder.position", {"columns": {"elbo.position": "elbow_pos"}}),
    "misspelt column": (lines(), "no column 'elbow_posn' .for elbow.position.; its columns are", {"columns": {"elbow.position": "elbow_posn"}}),
    "ambiguous": (lines(names=["time", "elbow_pos_meas", "elbow_pos_filt", *NAMES[1:2], *NAMES[4:]]), "elbow.position may be any of the columns 'elbow_pos_meas', 'elbow_pos_filt'; say which: columns=", {}),
    "one column for two": (lines(), "column 'elbow_pos' would be both", {"columns": {"elbow.position": "elbow_pos", "shoulder.position": "elbow_pos"}}),
    "too many numbered": (lines(names=["time", "q1", "q2", "q3", "q4", "tau1", "tau2"]), "no column was recognised as shoulder.position", {}),
    "same name, other numbers": (renamed(tau_elbow="elbow_pos"), "two columns called 'elbow_pos' with different numbers", {}),
    "position is text": (["time,shoulder_pos,elbow_pos", *(f"{0.01 * i},left,{0.1 * i}" for i in range(30))], "'left' is no number.*30 cells of 30", {}),
    "position is dates": (["time,shoulder_pos,elbow_pos", *(f"{0.01 * i},2024-01-01T00:00:{i:02d},{0.1 * i}" for i in range(30))], "holds dates", {}),
    "position without numbers": (["time,shoulder_pos,elbow_pos", *(f"{0.01 * i},,{0.1 * i}" for i in range(30))], "no usable number", {}),
    "rows out of range": (lines(), "0 usable rows", {"rows": slice(500, 600)}),
    "dt not positive": (lines(), "dt is -1", {"dt": -1.0}),
    "too large": (lines(), "more than max_bytes", {"max_bytes": 100}),
    "controls not there": (lines(), "controls='command', but no column is a command", {"controls": "command"}),
    "value not there": (lines(), "no column 'fx' .for wrench", {"values": {"wrench": "fx"}}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_file_and_fix(name, tmp_path, arm):
    text, said, options = REFUSED[name]
    path = write(tmp_path, text)
    with pytest.raises(DataError, match=r"(?s)" + said) as caught:
        read(path, arm, **options)
    assert "run.csv" in str(caught.value)


def test_no_file_and_unknown_format(tmp_path, arm):
    with pytest.raises(DataError, match="there is no file"):
        read(tmp_path / "none.csv", arm)
    with pytest.raises(DataError, match=r"'.xyz' are not known; known are .csv"):
        read(write(tmp_path, lines(), "run.xyz"), arm)


def test_there_are_enough_kinds_of_damage():
    assert len(REPAIRED) + len(REFUSED) >= 40


@pytest.mark.parametrize(
    ("low", "period"), [(-np.pi, 2 * np.pi), (0.0, 2 * np.pi), (-2 * np.pi, 4 * np.pi), (0.0, np.pi)]
)
def test_wrapped_angles_are_made_continuous(low, period, tmp_path, arm):
    trajectory, warning = read(write(tmp_path, changed(wrapped(low, period))), arm)
    assert "jumps removed" in str(trajectory.notes)
    assert "wrapped" not in warning
    np.testing.assert_allclose(np.diff(trajectory.q[:, 0]), 20 * DT, atol=1e-8)


def test_wrapping_at_a_range_of_ones_own(tmp_path, arm):
    path = write(tmp_path, changed(wrapped(-1.0, 2.0)))
    trajectory, _ = read(path, arm, unwrap=2.0)
    np.testing.assert_allclose(np.diff(trajectory.q[:, 0]), 20 * DT, atol=1e-8)


def test_turns_across_a_hole_are_doubted(tmp_path, arm):
    text = changed(wrapped(-np.pi, 2 * np.pi))
    _, warning = read(write(tmp_path, text[:80] + text[120:]), arm)
    assert "the number of turns is a guess" in warning


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda d: put(d, (slice(None), 1), 0.25), "shoulder.position is always 0.25: a dead channel"),
        (times({1: 57.3}), "reaches 51.* if it is in degrees, units="),
        (times({3: 57.3}), "reaches 108.* if it is in deg/s or rpm"),
    ],
)
def test_suspicious_numbers_are_said_and_kept(edit, said, tmp_path, arm):
    trajectory, warning = read(write(tmp_path, changed(edit)), arm, unwrap=False)
    assert re.search(said, warning), warning
    assert trajectory.q_mask.all()


def test_a_last_line_without_end_is_left_out(tmp_path, arm):
    whole = ("\n".join(lines())).encode()
    for cut in (0, 3, 8):
        trajectory, _ = read(write(tmp_path, whole[: len(whole) - cut]), arm)
        assert len(trajectory) == ROWS - 1
        assert agrees(trajectory)
        assert "no line end" in str(trajectory.notes)


def test_jitter_is_noted_and_kept(tmp_path, arm):
    rng = np.random.default_rng(0)
    stamps = DT * np.arange(ROWS) + rng.uniform(-0.3, 0.3, ROWS) * DT
    trajectory, warning = read(write(tmp_path, changed(lambda d: put(d, (slice(None), 0), stamps))), arm)
    np.testing.assert_allclose(trajectory.time, np.round(stamps, 9) - np.round(stamps[0], 9), atol=1e-12)
    assert warning == ""
    assert "jitter" in str(trajectory.notes)


def test_a_constant_and_a_channel_that_was_not_measured(tmp_path, arm):
    chosen = {"elbow.force": 0.0, "shoulder.velocity": None}
    trajectory, _ = read(write(tmp_path, lines()), arm, columns=chosen)
    assert (trajectory.controls[:, 1] == 0).all()
    assert trajectory.controls_mask.all()
    assert not trajectory.qd_mask[:, 0].any()
    shown = str(trajectory.columns)
    assert "elbow.force        always 0" in shown
    assert "shoulder.velocity  not measured" in shown
    assert "not used: shoulder_vel, tau_elbow" in shown


def test_dates_as_stamps(tmp_path, arm):
    text = lines()
    for i in range(ROWS):
        moment = f"2024-05-01T12:00:{DT * i:09.6f}Z"
        text[i + 1] = ",".join([moment, *text[i + 1].split(",")[1:]])
    trajectory, warning = read(write(tmp_path, text), arm)
    assert warning == ""
    object.__setattr__(trajectory, "time", np.round(trajectory.time, 5))
    assert agrees(trajectory)
