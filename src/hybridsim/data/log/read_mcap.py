"""Logs of ROS in MCAP files: one topic of joint states, each message one row."""

from pathlib import Path

import numpy as np

from ..folder import DataError
from .extras import needed
from .joint_state import decode
from .notes import Notes
from .table import Table

_SCHEMAS = ("sensor_msgs/JointState", "sensor_msgs/msg/JointState")


def read_mcap(path: Path, notes: Notes, topic: str | None = None) -> Table:
    """Columns position/elbow and so on. Stamps are those of the messages, or of the recorder where they have none."""
    reader_of = needed("mcap.reader", path)
    stamps: list[tuple[int, int]] = []
    rows: list[dict[str, float]] = []
    seen: dict[str, str] = {}
    broken: list[tuple[int, str]] = []
    cut = None
    with path.open("rb") as file:
        try:
            # Front to back, without the index at the end, which a recorder that was killed never wrote.
            stream = reader_of.NonSeekingReader(file, validate_crcs=True)
            for schema, channel, message in stream.iter_messages(log_time_order=False):
                seen[channel.topic] = schema.name if schema else "no schema"
                if seen[channel.topic] not in _SCHEMAS or topic not in (None, channel.topic):
                    continue
                if topic is None and len(others := [t for t in seen if seen[t] in _SCHEMAS]) > 1:
                    raise DataError(f"{path} has joint states on {', '.join(sorted(others))}; give one as topic=")
                try:
                    state = decode(message.data, channel.message_encoding)
                except ValueError as error:
                    broken.append((len(rows) + len(broken), str(error)))
                    continue
                stamps.append((state.stamp, message.log_time))
                rows.append(
                    {
                        f"{what}/{name}": value
                        for what in ("position", "velocity", "effort")
                        for name, value in zip(state.names, getattr(state, what), strict=False)
                    }
                )
        except DataError:
            raise
        # The package raises its own errors and those of struct, zlib, lz4 and zstandard on damaged bytes.
        except Exception as error:
            if not rows:
                raise DataError(f"{path} is not a readable MCAP file ({error or type(error).__name__})") from error
            cut = str(error) or type(error).__name__
    if not rows:
        topics = ", ".join(f"{t} ({s})" for t, s in sorted(seen.items())) or "none"
        why = f"; message {broken[0][0]}: {broken[0][1]}" if broken else ""
        raise DataError(f"{path} has no readable joint states ({_SCHEMAS[1]}){why}; its topics: {topics}")
    if len(broken) > max(2, 0.2 * len(rows)):
        raise DataError(f"{path}: {len(broken)} messages cannot be read (message {broken[0][0]}: {broken[0][1]})")
    if broken:
        notes.warn(f"left out {len(broken)} broken messages (message {broken[0][0]}: {broken[0][1]})")
    if cut:
        notes.warn(f"the file ends early or is damaged after message {len(rows) - 1} ({cut}): the rest is lost")
    return _table(path, rows, np.array(stamps, dtype=np.int64), notes)


def _table(path: Path, rows: list[dict[str, float]], stamps: np.ndarray, notes: Notes) -> Table:
    chosen = stamps[:, 0]
    if (chosen == 0).any():
        notes.warn("messages without a stamp: time is when the recorder received them")
        chosen = stamps[:, 1]
    names = list(dict.fromkeys(name for row in rows for name in row))
    data = np.array([[row.get(name, np.nan) for name in names] for row in rows], float).reshape(len(rows), -1)
    time = (chosen - chosen[0]).astype(float)
    table = np.concatenate([time[:, None], data], axis=1)
    return Table(str(path), ["time [ns]", *names], table, np.arange(len(rows)), notes, what="message")
