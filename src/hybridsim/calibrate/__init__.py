"""The main job: from a robot's file and its logs to a calibrated model, what it lacked, and files for other tools."""

from .config import Config, config_of, read_config
from .export import learned_force, write_augmentation
from .files import listed, summary
from .propose import propose
from .result import Calibration, Candidate, Curve, Finding, Prediction, Stage
from .run import calibrate

__all__ = [
    "Calibration",
    "Candidate",
    "Config",
    "Curve",
    "Finding",
    "Prediction",
    "Stage",
    "calibrate",
    "config_of",
    "learned_force",
    "listed",
    "propose",
    "read_config",
    "summary",
    "write_augmentation",
]
