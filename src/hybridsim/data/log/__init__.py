"""Logs of robots: read, repaired, resampled, smoothed, cut into windows, split by run, and judged before a fit."""

from .choices import column_choices
from .columns import ColumnMap
from .delay import Delay, delayed, estimate_delay
from .floor import Floor, floor_of
from .notes import DataWarning
from .pose_choices import holds_poses
from .pose_order import ordered
from .quality import quality
from .read_log import read_log
from .report import ChannelQuality, Quality
from .smooth import smooth, with_velocities
from .split import Split, split
from .trajectory import Trajectory
from .windows import parts, windows

__all__ = [
    "ChannelQuality",
    "ColumnMap",
    "DataWarning",
    "Delay",
    "Floor",
    "Quality",
    "Split",
    "Trajectory",
    "column_choices",
    "delayed",
    "estimate_delay",
    "floor_of",
    "holds_poses",
    "ordered",
    "parts",
    "quality",
    "read_log",
    "smooth",
    "split",
    "windows",
    "with_velocities",
]
