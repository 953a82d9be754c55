"""The report before a fit: is this log worth fitting, and what in it will mislead?"""

import numpy as np

from ...model import Model
from ..folder import DataError
from .channels import Channel, channels
from .delay import Delay, estimate_delay
from .findings import held, longest_stuck, noise, quantum, saturation, velocity_ratio
from .polynomial import local_polynomial
from .report import ChannelQuality, Level, Quality
from .suspicion import limits
from .trajectory import Trajectory

_RATIOS = (
    (-1.0, "the sign of one is turned"),
    (57.2958, "velocities are in deg/s, or positions in rad of degrees"),
    (1 / 57.2958, "positions are in degrees"),
    (9.5493, "velocities are in rpm"),
    (1 / 9.5493, "velocities are rad/s of a position in rpm"),
    (1000.0, "time is in ms, or velocities in mrad/s"),
    (1e-3, "time is in ms, or positions in mm"),
    (0.159155, "velocities are in turns/s"),
    (6.283185, "positions are in turns"),
)


def quality(trajectory: Trajectory, model: Model, max_delay: float = 0.1) -> Quality:
    """Judge a trajectory against its model. Delays are sought up to `max_delay` [s]."""
    t = trajectory
    if t.q.shape[1] != model.nq or len(t) < 10:
        raise DataError(
            f"trajectory {t.source!r} has {len(t)} samples of {t.q.shape[1]} positions; this model has {model.nq}, and a "
            "report needs 10 samples"
        )
    verdicts: list[tuple[Level, str]] = []
    steps = np.diff(t.time)
    inside = steps[steps <= t.max_gap]
    jitter = float(inside.std() / t.dt)
    if jitter > 0.05:
        verdicts.append(("look", f"time steps jitter by {100 * jitter:.3g} %: resample before a fit"))
    if len(t.holes):
        verdicts.append(("look", f"{len(t.holes)} holes in time, the longest of {steps.max():.3g} s"))
    found, ratios = [], {}
    still = _still(t)
    for channel in channels(model):
        arrays = _arrays(t, channel)
        if arrays is not None:
            found.append(_channel(t, model, channel, *arrays, still, verdicts))
            if channel.quantity == "velocity" and channel.motion != "other" and not channel.part:
                _consistent(t, model, channel, ratios, verdicts)
    delays = _delays(t, model, max_delay, verdicts)
    if not verdicts:
        verdicts.append(("good", "nothing was found that would mislead a fit"))
    order = ("bad", "look", "good")
    return Quality(
        t.source, 1 / t.dt, jitter, len(t.holes), float(steps.max()), t.duration, tuple(found), ratios, delays,
        tuple(sorted(verdicts, key=lambda v: order.index(v[0]))),
    )  # fmt: skip


def _arrays(t: Trajectory, channel: Channel) -> tuple[np.ndarray, np.ndarray] | None:
    name = {"position": "q", "velocity": "qd"}.get(channel.quantity, "controls")
    array = getattr(t, name)
    if array is None or (name == "controls" and channel.quantity != t.control_kind):
        return None
    return array[:, channel.index], getattr(t, f"{name}_mask")[:, channel.index]


def _still(t: Trajectory) -> np.ndarray:
    """Samples at which no position changed."""
    moved = (np.diff(t.q, axis=0) != 0).any(1)
    return ~np.concatenate([[False], moved])


def _channel(t, model, channel, x, good, still, verdicts) -> ChannelQuality:
    key, values, times = channel.key, x[good], t.time[good]
    if len(values) < 2:
        verdicts.append(("look", f"{key} was not measured"))
        return ChannelQuality(key, 0.0, 0.0, float(good.mean()), 0.0, 0.0, 0.0, 0.0)
    share, limit = (0.0, 0.0)
    if channel.quantity in ("force", "command"):
        share, limit = saturation(values, _limit(model, channel))
        if share > 0.02:
            verdicts.append(("look", f"{key} is at its limit of {limit:.4g} for {100 * share:.3g} % of the time"))
    stuck = longest_stuck(times, values, still[good])
    if np.ptp(values) == 0 and channel.joint != "free":
        # Joints that are not driven have no force, and that is no damage.
        level: Level = "look" if channel.quantity in ("force", "command") else "bad"
        verdicts.append((level, f"{key} is always {values[0]:.4g}: a dead channel"))
    elif stuck > max(0.3 * t.duration, 50 * t.dt) and channel.quantity in ("position", "velocity"):
        verdicts.append(("look", f"{key} did not change for {stuck:.3g} s while others moved: stuck?"))
    if (slow := held(values)) > 1:
        verdicts.append(
            ("look", f"{key} has a new value every {slow:.3g} rows only: a slower sensor; use every {slow:.3g}th")
        )
    if good.mean() < 0.9:
        verdicts.append(("look", f"{key} was measured in {100 * good.mean():.3g} % of the samples"))
    lower, upper = limits(model, channel)
    over = max(values.max() - upper, lower - values.min())
    if over > 0.02 * min(upper - lower, 1.0):
        far = over > 0.5 * (upper - lower)
        words = "by far: unit, offset or column?" if far else "by a little: offset?"
        verdicts.append(
            ("bad" if far else "look", f"{key} from {values.min():.4g} to {values.max():.4g} leaves the limits "
             f"{lower:.4g} to {upper:.4g} {words}")
        )  # fmt: skip
    return ChannelQuality(
        key, float(values.min()), float(values.max()), float(good.mean()), noise(values), quantum(values), share, stuck
    )


def _limit(model: Model, channel: Channel) -> float:
    """The largest command or force of a channel."""
    if channel.quantity == "command":
        return float(np.abs(np.asarray(model.actuators.command_range)[channel.index]).max())
    return float(np.asarray(model.joints.effort)[model.topology.own_v][channel.index])


def _consistent(t: Trajectory, model: Model, channel: Channel, ratios: dict, verdicts: list) -> None:
    q = model.q_of(channel.owner).start
    mask = t.q_mask[:, q] & t.qd_mask[:, channel.index]
    ratio, correlation = velocity_ratio(t.time, t.q[:, q], t.qd[:, channel.index], mask, t.max_gap)
    if abs(correlation) < 0.3:
        if np.ptp(t.q[:, q]) > 100 * max(noise(t.q[:, q]), 1e-9):
            verdicts.append(("bad", f"{channel.key} is not the rate of its position (correlation {correlation:.2f})"))
        return
    ratios[channel.owner] = ratio
    for size, why in _RATIOS:
        if abs(ratio / size - 1) < 0.15 and abs(correlation) > 0.7:
            verdicts.append(("bad", f"{channel.key} is {ratio:.4g} times the rate of its position: {why}"))
            return
    if not 0.8 < ratio < 1.25:
        level: Level = "bad" if abs(correlation) > 0.9 else "look"
        verdicts.append(
            (level, f"{channel.key} is {ratio:.3g} times the rate of its position (correlation {correlation:.2f})")
        )


def _delays(t: Trajectory, model: Model, max_delay: float, verdicts: list) -> dict[str, Delay]:
    """Of each control behind which something measured follows: the measured force, else the acceleration."""
    if t.controls is None or t.duration < 5 * max_delay:
        return {}
    measured = t.values.get("joint.actuation")
    if measured is None and t.qd is None:
        return {}
    found = {}
    rate = (
        None
        if measured is not None
        else local_polynomial(t.time, np.asarray(t.qd), np.asarray(t.qd_mask), 9 * t.dt, 2, t.max_gap)[1]
    )
    for channel in channels(model):
        if channel.quantity != t.control_kind or channel.part or np.ptp(t.controls[:, channel.index]) == 0:
            continue
        joint = channel.owner if t.control_kind == "force" else model.joint_names[model.actuators.joints[channel.index]]
        v = model.v_of(joint).start
        response = measured[:, v] if measured is not None else rate[:, v]
        try:
            delay = estimate_delay(t.time, t.controls[:, channel.index], response, max_delay)
        except DataError:
            continue
        found[channel.key] = delay
        if delay.confident and delay.seconds > 2 * t.dt + 2 * delay.uncertainty:
            verdicts.append(
                ("look", f"{channel.key} acts {delay} later: shift it by delayed(trajectory, {delay.seconds:.4g})")
            )
        if delay.confident and delay.correlation < -0.4:
            # The acceleration has other causes too; a measured force has none but the command.
            level: Level = "look" if measured is None else "bad"
            said = f"{channel.key} acts against its joint (correlation {delay.correlation:.2f}): sign turned?"
            verdicts.append((level, said))
    return found
