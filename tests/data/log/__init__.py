"""Tests of reading, repairing and judging logs."""
