"""Logs of ROS in MCAP files: one topic of joint states, each message one row."""

from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import numpy as np

from ...reading import amount
from ..folder import DataError
from .extras import needed
from .joint_state import JointState, decode
from .limits import LARGEST_CHUNK, MOST_BYTES, check_columns, check_numbers
from .notes import Notes
from .table import Table

_SCHEMAS = ("sensor_msgs/JointState", "sensor_msgs/msg/JointState")


def read_mcap(path: Path, notes: Notes, topic: str | None = None, max_bytes: int = MOST_BYTES) -> Table:
    """Columns position/elbow and so on. Stamps are those of the messages, or of the recorder where they have none."""
    reader, records = needed("mcap.reader", path), needed("mcap.records", path)
    rows = _Rows(path, max_bytes)
    seen: dict[str, str] = {}
    broken, first_broken = 0, (0, "")
    cut = None
    with path.open("rb") as file:
        try:
            for schema, channel, message in _messages(path, file, reader, records):
                seen[channel.topic] = schema.name if schema else "no schema"
                if seen[channel.topic] not in _SCHEMAS or topic not in (None, channel.topic):
                    continue
                if topic is None and len(others := [t for t in seen if seen[t] in _SCHEMAS]) > 1:
                    raise DataError(f"{path} has joint states on {', '.join(sorted(others))}; give one as topic=")
                try:
                    state = decode(message.data, channel.message_encoding)
                except ValueError as error:
                    first_broken = first_broken if broken else (len(rows), str(error))
                    broken += 1
                    continue
                rows.add(state, message.log_time)
        except DataError:
            raise
        # The package raises its own errors and those of struct, zlib, lz4 and zstandard on damaged bytes.
        except Exception as error:
            if not len(rows):
                raise DataError(f"{path} is not a readable MCAP file ({error or type(error).__name__})") from error
            cut = str(error) or type(error).__name__
    if not len(rows):
        topics = ", ".join(f"{t} ({s})" for t, s in sorted(seen.items())) or "none"
        why = f"; message {first_broken[0]}: {first_broken[1]}" if broken else ""
        raise DataError(f"{path} has no readable joint states ({_SCHEMAS[1]}){why}; its topics: {topics}")
    if broken > max(2, 0.2 * len(rows)):
        raise DataError(f"{path}: {broken} messages cannot be read (message {first_broken[0]}: {first_broken[1]})")
    if broken:
        notes.warn(f"left out {broken} broken messages (message {first_broken[0]}: {first_broken[1]})")
    if cut:
        notes.warn(f"the file ends early or is damaged after message {len(rows) - 1} ({cut}): the rest is lost")
    return rows.table(notes)


def _messages(path: Path, file: IO[bytes], reader: ModuleType, records: ModuleType) -> Iterator[tuple[Any, Any, Any]]:
    """Schema, channel and message, front to back: the index at the end is missing where a recorder was killed."""
    stream = reader.StreamReader(
        _ToEnd(file, path.stat().st_size), emit_chunks=True, validate_crcs=True, record_size_limit=LARGEST_CHUNK
    )
    schemas: dict[int, Any] = {0: None}
    channels: dict[int, Any] = {}
    for outer in stream.records:
        inside = isinstance(outer, records.Chunk)
        for record in reader.breakup_chunk(_unpacked(path, outer), validate_crc=True) if inside else [outer]:
            if isinstance(record, records.Schema):
                schemas[record.id] = record
            elif isinstance(record, records.Channel):
                channels[record.id] = record
            elif isinstance(record, records.Message):
                channel = channels.get(record.channel_id)
                if channel is None or channel.schema_id not in schemas:
                    raise ValueError(f"a message of channel {record.channel_id}, which is not described")
                yield schemas[channel.schema_id], channel, record


class _ToEnd:
    """A file of which never more is asked for than there is: Python takes memory for what a damaged length says."""

    def __init__(self, file: IO[bytes], size: int):
        self.file, self.left = file, size

    def read(self, count: int) -> bytes:
        content = self.file.read(min(count, self.left))
        self.left -= len(content)
        return content


def _unpacked(path: Path, chunk: Any) -> Any:
    """The chunk with its content as it is. What it says of its size, and what its compression says, may both be wrong."""
    size = chunk.uncompressed_size
    if size > LARGEST_CHUNK:
        raise DataError(
            f"{path} has a chunk of {amount(size)}, and at most {amount(LARGEST_CHUNK)} are read; write it with smaller chunks"
        )
    if chunk.compression == "zstd":
        content = needed("zstandard", path).ZstdDecompressor().stream_reader(chunk.data).read(size + 1)
    elif chunk.compression == "lz4":
        content = needed("lz4.frame", path).LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
    else:
        return chunk
    if len(content) > size:
        raise DataError(
            f"{path} has a chunk that unpacks to more than the {size} bytes that it announces; write it again"
        )
    return replace(chunk, compression="", data=content)


class _Rows:
    """Numbers of messages: those of the same joints and lengths in one array, so that memory is that of the numbers."""

    def __init__(self, path: Path, max_bytes: int):
        self.path, self.max_bytes = path, max_bytes
        self.stamps, self.received = array("q"), array("q")
        self.columns: dict[str, int] = {}
        self.layouts: dict[tuple, tuple[list[int], array, array]] = {}

    def __len__(self) -> int:
        return len(self.stamps)

    def add(self, state: JointState, received: int) -> None:
        lists = {"position": state.position, "velocity": state.velocity, "effort": state.effort}
        key = (*state.names, *map(len, lists.values()))
        if key not in self.layouts:
            names = [f"{what}/{name}" for what, values in lists.items() if values for name in state.names]
            check_columns(self.path, len(self.columns.keys() | names))
            places = [self.columns.setdefault(name, len(self.columns)) for name in names]
            self.layouts[key] = places, array("q"), array("d")
        _, rows, numbers = self.layouts[key]
        rows.append(len(self))
        for values in lists.values():
            numbers.extend(values)
        self.stamps.append(state.stamp)
        self.received.append(received)
        if 8 * len(self) * (1 + len(self.columns)) > self.max_bytes:
            check_numbers(self.path, len(self) * (1 + len(self.columns)), self.max_bytes)

    def table(self, notes: Notes) -> Table:
        chosen = np.array(self.stamps, dtype=np.int64)
        if (chosen == 0).any():
            notes.warn("messages without a stamp: time is when the recorder received them")
            chosen = np.array(self.received, dtype=np.int64)
        data = np.full((len(self), 1 + len(self.columns)), np.nan)
        data[:, 0] = chosen - chosen[0]
        for places, rows, numbers in self.layouts.values():
            if places:
                data[np.ix_(rows, 1 + np.array(places))] = np.reshape(numbers, (len(rows), len(places)))
        names = ["time [ns]", *self.columns]
        return Table(str(self.path), names, data, np.arange(len(self)), notes, what="message")
