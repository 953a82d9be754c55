"""The result of `quality`: numbers of every channel, and verdicts in words."""

from dataclasses import dataclass
from typing import Literal

from .delay import Delay

Level = Literal["good", "look", "bad"]


@dataclass(frozen=True)
class ChannelQuality:
    """Of one number of the model."""

    key: str
    low: float
    high: float
    measured: float
    """Share of samples."""
    noise: float
    """Standard deviation, same unit."""
    quantum: float
    """Step of the sensor, 0 where none shows."""
    saturated: float
    """Share of samples at the limit."""
    stuck: float
    """Longest time without any change while others moved [s]."""


@dataclass(frozen=True)
class Quality:
    """Numbers, and verdicts in words; print it."""

    source: str
    rate: float
    """[Hz]"""
    jitter: float
    """Standard deviation of the step over the step, without holes."""
    holes: int
    longest_hole: float
    """[s]"""
    duration: float
    channels: tuple[ChannelQuality, ...]
    velocity_ratios: dict[str, float]
    """Of joints: measured velocity over that of the positions; 1 if all is well."""
    delays: dict[str, Delay]
    """Of controls: how much later the response comes."""
    verdicts: tuple[tuple[Level, str], ...]

    @property
    def ok(self) -> bool:
        """Nothing is bad."""
        return all(level != "bad" for level, _ in self.verdicts)

    def __str__(self) -> str:
        lines = [
            f"{self.source or 'trajectory'}: {self.duration:.4g} s at {self.rate:.4g} Hz, jitter {100 * self.jitter:.3g} %, "
            f"{self.holes} holes" + (f" (longest {self.longest_hole:.3g} s)" if self.holes else "")
        ]
        rows = [("channel", "low", "high", "measured", "noise", "step", "at limit", "stuck")]
        rows += [
            (c.key, f"{c.low:.4g}", f"{c.high:.4g}", f"{100 * c.measured:.3g} %", f"{c.noise:.2g}", f"{c.quantum:.2g}",
             f"{100 * c.saturated:.2g} %", f"{c.stuck:.2g} s")
            for c in self.channels
        ]  # fmt: skip
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines += ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines += [f"delay of {key}: {delay}" for key, delay in self.delays.items()]
        return "\n".join(lines + [f"{level.upper()}: {text}" for level, text in self.verdicts])
