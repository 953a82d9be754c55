"""The report of a calibration: one page that stands by itself, and its figures."""

from .write import write_report

__all__ = ["write_report"]
