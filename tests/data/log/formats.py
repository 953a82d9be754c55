"""The clean log in the binary formats."""

import json
import struct
from pathlib import Path

import numpy as np

from .truth import NAMES, QD, TAU, TIME, Q, table


def write_npz(folder: Path, **more) -> Path:
    np.savez(folder / "run.npz", time=TIME, q=Q, qd=QD, tau=TAU, **more)
    return folder / "run.npz"


def write_parquet(folder: Path) -> Path:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(dict(zip(NAMES, table().T, strict=True))), folder / "run.parquet")
    return folder / "run.parquet"


def cdr(stamp: int, names: list[str], *arrays) -> bytes:
    """sensor_msgs/msg/JointState as ROS 2 writes it."""
    body = bytearray()

    def put(form: str, *values):
        size = struct.calcsize(form)
        body.extend(b"\0" * (-len(body) % size))
        body.extend(struct.pack(f"<{len(values)}{form}", *values))

    def text(value: str):
        data = value.encode() + b"\0"
        put("I", len(data))
        body.extend(data)

    put("i", stamp // 10**9)
    put("I", stamp % 10**9)
    text("base")
    put("I", len(names))
    for name in names:
        text(name)
    for array in arrays:
        put("I", len(array))
        if len(array):
            put("d", *array)
    return b"\x00\x01\x00\x00" + bytes(body)


def as_json(stamp: int, names: list[str], position, velocity, effort) -> bytes:
    head = {"stamp": {"sec": stamp // 10**9, "nanosec": stamp % 10**9}}
    lists = {"position": list(position), "velocity": list(velocity), "effort": list(effort)}
    return json.dumps({"header": head, "name": names, **lists}).encode()


def write_mcap(folder: Path, encoding: str = "cdr", topics: tuple[str, ...] = ("/joint_states",), finish=True) -> Path:
    """Joints in another order than the model's, and one that it does not have; stamps in ns since 1970."""
    from mcap.writer import Writer

    path = folder / "run.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=4096)
        writer.start()
        schema = writer.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"")
        other = writer.register_schema("std_msgs/msg/String", "ros2msg", b"")
        chatter = writer.register_channel("/chatter", encoding, other)
        channels = [writer.register_channel(topic, encoding, schema) for topic in topics]
        for k, t in enumerate(TIME):
            stamp = 1_700_000_000_000_000_000 + round(t * 1e9)
            arrays = [[x[k, 1], 7.0, x[k, 0]] for x in (Q, QD, TAU)]
            data = (cdr if encoding == "cdr" else as_json)(stamp, ["elbow", "gripper", "shoulder"], *arrays)
            for channel in channels:
                writer.add_message(channel, stamp + 500, data, stamp)
            writer.add_message(chatter, stamp, b"hello", stamp)
        if finish:
            writer.finish()
    return path
