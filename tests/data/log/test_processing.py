"""Resampling, smoothing, delay, windows, split and the quality report, against what is known exactly."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hybridsim.data import DataError
from hybridsim.data.log import Trajectory, delayed, estimate_delay, parts, quality, smooth, split, windows

JOINTS = ("shoulder", "elbow")


def motion(n=2000, dt=0.005, jitter=0.0, noise=0.0, seed=0, hole=None) -> Trajectory:
    rng = np.random.default_rng(seed)
    t = dt * (np.arange(n) + rng.uniform(-jitter, jitter, n))
    if hole:
        t = t[(t < hole[0]) | (t > hole[1])]
    q = np.stack([np.sin(3 * t), 0.7 * np.cos(5 * t)], 1) + noise * rng.normal(size=(len(t), 2))
    qd = np.stack([3 * np.cos(3 * t), -3.5 * np.sin(5 * t)], 1)
    return Trajectory(t, q, qd, np.stack([np.sin(t), np.cos(t)], 1), source=f"run{seed}.csv", joint_names=JOINTS)


def test_resampling_is_exact_for_smooth_motion_and_keeps_holes_masked():
    even = motion(jitter=0.3, hole=(4.0, 4.5)).resampled(0.004)
    np.testing.assert_allclose(np.diff(even.time), 0.004, atol=1e-12)
    true = np.stack([np.sin(3 * even.time), 0.7 * np.cos(5 * even.time)], 1)
    assert np.abs(even.q - true)[even.q_mask].max() < 1e-6
    inside = (even.time > 4.01) & (even.time < 4.49)
    assert not even.q_mask[inside].any()
    assert even.q_mask[~((even.time > 3.98) & (even.time < 4.52))].all()
    assert np.isfinite(even.q).all()


def test_held_and_joined_controls():
    t = Trajectory(np.arange(3.0), np.zeros((3, 1)), controls=np.array([[0.0], [1.0], [3.0]]))
    np.testing.assert_allclose(t.resampled(0.5).controls[:, 0], [0, 0.5, 1, 2, 3])
    np.testing.assert_allclose(t.resampled(0.5, controls="hold").controls[:, 0], [0, 0, 1, 1, 3])


def test_masked_samples_do_not_bend_their_neighbours():
    t = motion()
    q, mask = t.q.copy(), t.q_mask.copy()
    q[500, 0], mask[500, 0] = 99.0, False
    even = replace(t, q=q, q_mask=mask).resampled(0.005)
    assert np.abs(even.q[:, 0] - np.sin(3 * even.time))[even.q_mask[:, 0]].max() < 1e-6


def test_quaternions_stay_of_unit_length():
    angle = np.linspace(0, 2, 21)
    q = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * angle, 0 * angle], 1)
    even = Trajectory(0.1 * np.arange(21), q, quaternions=(0,)).resampled(0.03)
    np.testing.assert_allclose(np.linalg.norm(even.q, axis=1), 1, atol=1e-12)


@pytest.mark.parametrize(("method", "noise", "limit"), [
    ("polynomial", 0.0, 2e-3), ("polynomial", 1e-4, 0.03), ("butterworth", 0.0, 0.02), ("butterworth", 1e-4, 0.03),
])  # fmt: skip
def test_velocities_without_delay(method, noise, limit):
    t = motion(jitter=0.2 if method == "polynomial" else 0.0, noise=noise)
    found = smooth(replace(t, qd=None, qd_mask=None), method)
    inner = slice(50, -50)
    error = (found.qd - t.qd)[inner]
    assert np.sqrt((error**2).mean()) < limit
    assert found.qd_mask[inner].all()
    delay = estimate_delay(t.time[inner], t.qd[inner, 1], found.qd[inner, 1], 0.05)
    assert abs(delay.seconds) < 5e-4


def test_smoothing_does_not_cross_holes():
    t = motion(hole=(4.0, 4.5))
    jump = replace(t, q=t.q + 10.0 * (t.time > 4.2)[:, None])
    assert np.abs(smooth(jump).qd - t.qd)[5:-5].max() < 0.05


@pytest.mark.parametrize("true", [0.0, 0.0123, 0.031])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_delay_finer_than_a_sample(true, noise):
    rng = np.random.default_rng(3)
    t = 0.005 * np.arange(3000)
    phases, rates = rng.uniform(0, 6, 20), rng.uniform(1, 40, 20)

    def signal(s):
        return np.sin(np.outer(s, rates) + phases).sum(1)

    delay = estimate_delay(t, signal(t), -2 * signal(t - true) + 5 + noise * rng.normal(size=len(t)), 0.1)
    assert abs(delay.seconds - true) < max(4 * delay.uncertainty, 2.5e-4)
    assert delay.uncertainty < 2e-3
    assert delay.correlation < -0.9
    assert delay.confident


def test_unrelated_signals_have_no_delay():
    rng = np.random.default_rng(0)
    t = 0.005 * np.arange(2000)
    assert not estimate_delay(t, rng.normal(size=2000), rng.normal(size=2000), 0.1).confident
    with pytest.raises(DataError, match="needs 20 samples"):
        estimate_delay(t[:10], t[:10], t[:10])


def test_delayed_controls():
    t = motion()
    later = delayed(t, 0.05)
    np.testing.assert_allclose(later.controls[20:, 0], np.sin(t.time[20:] - 0.05), atol=1e-4)
    assert not later.controls_mask[:9].any()


def test_windows_never_cross_holes():
    t = motion(hole=(4.0, 4.5))
    found = windows(t, 1.0, 0.5)
    assert found
    assert all(np.diff(w.time).max() < 0.02 for w in found)
    assert all(abs(w.duration - 1.0) < 0.006 for w in found)
    assert {w.run for w in found} == {"run0.csv"}
    with pytest.raises(DataError, match="longest stretch without a hole is"):
        windows(t, 8.0)


def test_windows_without_measurements_are_left_out():
    t = motion()
    mask = t.q_mask.copy()
    mask[400:500, 1] = False
    found = windows(replace(t, q_mask=mask), 1.0)
    assert len(found) == len(windows(t, 1.0)) - 1


def test_split_by_run_and_never_by_window():
    runs = [motion(n=400, noise=1e-3, seed=k) for k in range(10)]
    pieces = [w for run in runs for w in windows(run, 0.5, 0.1)]
    found = split(pieces, seed=4)
    sets = [{w.run for w in group} for group in (found.train, found.validation, found.test)]
    assert [len(s) for s in sets] == [7, 2, 1] or [len(s) for s in sets] == [7, 1, 2]
    assert len(set.union(*sets)) == 10
    assert len(found.train) + len(found.validation) + len(found.test) == len(pieces)
    again = split(pieces[::-1], seed=4)
    assert {w.run for w in again.test} == sets[2]
    assert any({w.run for w in split(pieces, seed=s).test} != sets[2] for s in range(5))
    assert "train: 7 runs" in str(found)


def test_split_refuses_what_would_leak():
    run = motion(noise=1e-3)
    with pytest.raises(DataError, match=r"1 runs .* cannot be divided into 3 sets; .*parts"):
        split(windows(run, 1.0))
    copy = replace(run, run="other.csv")
    with pytest.raises(DataError, match="one is a copy"):
        split([run, copy, motion(seed=2)])
    with pytest.raises(DataError, match="has no run"):
        split([replace(run, run="", source="")])
    cut = parts(run, 3, guard=0.5)
    assert len({p.run for p in cut}) == 3
    assert all(b.time[0] - a.time[-1] >= 0.5 for a, b in pairwise(cut))
    found = split(cut, (0.34, 0.33, 0.33))
    assert len(found.train) == len(found.validation) == len(found.test) == 1


def test_a_trajectory_checks_itself():
    with pytest.raises(DataError, match="rising"):
        Trajectory(np.zeros(2), np.zeros((2, 1)))
    with pytest.raises(DataError, match="force has shape"):
        Trajectory(np.arange(2.0), np.zeros((2, 1)), values={"force": np.zeros((3, 1))})
    with pytest.raises(DataError, match="not finite at sample 1"):
        Trajectory(np.arange(2.0), np.array([[0.0], [np.nan]]))
    t = motion()
    assert len(t.window(1.0, 2.0)) == 200
    assert "2000 samples" in t.summary()
    with pytest.raises(DataError, match="dt is 0"):
        t.resampled(0)
    with pytest.raises(DataError, match="samples; cut it"):
        t.resampled(1e-12)


# What is done to a good trajectory, and what the report must say.
BAD = {
    "sign": (lambda t: replace(t, qd=-t.qd), "bad", "times the rate of its position: the sign of one is turned"),
    "velocity in degrees": (lambda t: replace(t, qd=57.2958 * t.qd), "bad", "velocities are in deg/s"),
    "positions in degrees": (lambda t: replace(t, q=57.2958 * t.q), "bad", "positions are in degrees"),
    "rpm": (lambda t: replace(t, qd=9.5493 * t.qd), "bad", "velocities are in rpm"),
    "joints exchanged": (lambda t: replace(t, qd=t.qd[:, ::-1]), "bad", "is not the rate of its position"),
    "dead": (lambda t: replace(t, q=t.q * [1, 0]), "bad", "elbow.position is always 0: a dead channel"),
    "limits": (lambda t: replace(t, q=t.q + np.array([0, 8.0])), "bad", "elbow.position from .* leaves the limits"),
    "saturated": (lambda t: replace(t, controls=np.clip(30 * t.controls, -18, 18)), "look", "elbow.force is at its limit of 18"),
    "stuck": (lambda t: replace(t, q=np.where((t.time < 4)[:, None] * [True, False], 0.1, t.q)), "look", "stuck?"),
    "slow sensor": (lambda t: replace(t, q=t.q[np.arange(len(t)) // 5 * 5]), "look", "new value every 5 rows"),
    "holes": (lambda t: motion(hole=(4.0, 4.5)), "look", "1 holes in time"),
    "jitter": (lambda t: motion(jitter=0.3), "look", "time steps jitter"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_the_report_finds_what_misleads(name, arm):
    edit, level, said = BAD[name]
    report = quality(edit(motion()), arm)
    assert any(found == level and re.search(said, text) for found, text in report.verdicts), str(report)
    assert report.ok == (level != "bad")


def test_the_report_of_good_data(arm):
    rng = np.random.default_rng(0)
    t = motion(noise=0.0)
    counted = replace(t, q=np.round(t.q / 1e-3) * 1e-3, qd=t.qd + 0.01 * rng.normal(size=t.qd.shape))
    report = quality(counted, arm)
    assert report.ok
    assert [level for level, _ in report.verdicts] == ["good"]
    by_key = {c.key: c for c in report.channels}
    assert by_key["shoulder.position"].quantum == pytest.approx(1e-3, rel=1e-3)
    assert by_key["shoulder.velocity"].noise == pytest.approx(0.01, rel=0.15)
    assert report.rate == pytest.approx(200)
    assert report.velocity_ratios["elbow"] == pytest.approx(1, abs=0.02)
    assert "GOOD" in str(report)


def test_the_report_finds_a_delay(arm):
    rng = np.random.default_rng(1)
    t = motion()
    rates, phases = rng.uniform(2, 40, (2, 15)), rng.uniform(0, 6, (2, 15))

    def force(time):
        return np.stack([np.sin(np.outer(time, r) + p).sum(1) for r, p in zip(rates, phases, strict=True)], 1)

    driven = replace(t, controls=force(t.time), values={"joint.actuation": force(t.time - 0.02)}, value_masks={})
    report = quality(driven, arm)
    assert report.delays["elbow.force"].seconds == pytest.approx(0.02, abs=5e-4)
    assert any("acts 20" in text for _, text in report.verdicts), str(report)
