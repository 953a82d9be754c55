"""Small files that ask for much: memory, time, or an end that never comes."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

MEGABYTE = 2**20
ROBOT = """<robot name="r"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{0}</link>
<joint name="elbow" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


def zeros_deflated(size: int) -> bytes:
    """A raw deflate stream of so many zeros, made from one compressed block that is repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size // MEGABYTE) + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def zip_of_zeros(path: Path, name: str, start: bytes, size: int) -> None:
    """A zip whose only entry has `start`, then so many zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH) + zeros_deflated(size)
    whole, called = len(start) + size // MEGABYTE * MEGABYTE, name.encode()
    # Sizes beyond 32 bits stand in an extra field.
    extra = struct.pack("<HHQQ", 1, 16, whole, len(data))
    fields = struct.pack("<HHHHHIII", 45, 0, 8, 0, 0x21, 0, 2**32 - 1, 2**32 - 1)
    local = b"PK\3\4" + fields + struct.pack("<HH", len(called), len(extra)) + called + extra
    tail = struct.pack("<HHHHHII", len(called), len(extra), 0, 0, 0, 0, 0)
    central = b"PK\1\2" + struct.pack("<H", 45) + fields + tail + called + extra
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local) + len(data), 0)
    path.write_bytes(local + data + central + end)


def npy_header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"shape": shape, "fortran_order": False, "descr": kind})
    return content.getvalue()


def npz_of_zeros(path: Path) -> None:
    """4 GB in 4 MB."""
    zip_of_zeros(path, "q.npy", npy_header((2**29,)), 2**32)


def npz_of_bytes(path: Path) -> None:
    """Half a gigabyte of single bytes, each of which would become a number of eight."""
    zip_of_zeros(path, "q.npy", npy_header((2**29,), "|i1"), 2**29)


def npz_that_lies(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("q.npy", npy_header((10**10,)) + bytes(800))


def npz_of_objects(path: Path) -> None:
    """A pickle, which could run anything."""
    np.savez(path, q=np.array([{}, 1], dtype=object))


def npz_of_many(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for i in range(20_000):
            file.writestr(zipfile.ZipInfo(f"{i}.npy"), b"")


def csv_of_columns(path: Path) -> None:
    path.write_text(",".join(f"c{i}" for i in range(10**6)) + "\n" + ",".join(["1"] * 10**6) + "\n")


def csv_of_one_line(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(300):
            file.write(b"1 " * (MEGABYTE // 2))


def csv_of_digits(path: Path) -> None:
    path.write_text("time,q\n0," + "1" * 10**7 + "\n")


def csv_of_rows(path: Path) -> None:
    """2 GB of the shortest rows there are: most of it a hole, which costs no disk."""
    with path.open("wb") as file:
        file.write(b"t,q\n" + b"1,1\n" * 10**5)
        file.truncate(2**31 - 1)


def csv_too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"t,q\n1,1\n")
        file.truncate(2**33)


def parquet_of_zeros(path: Path) -> None:
    """300 million numbers, which are stored as how often they are repeated."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"q": np.zeros(10**7, dtype=np.int8)})
    with parquet.ParquetWriter(path, table.schema) as writer:
        for _ in range(30):
            writer.write_table(table, row_group_size=10**7)


def parquet_of_texts(path: Path) -> None:
    """One long text, repeated a million times."""
    import pyarrow
    from pyarrow import parquet

    texts = pyarrow.DictionaryArray.from_arrays(np.zeros(10**6, dtype=np.int32), ["x" * 10**6])
    parquet.write_table(pyarrow.table({"q": texts}), path, store_schema=False)


def mcap_chunk(compression: str, announced: int):
    """A file with one chunk of a gigabyte of zeros, which announces so many bytes."""

    def write(path: Path) -> None:
        import lz4.frame
        import zstandard
        from mcap.data_stream import RecordBuilder
        from mcap.records import Chunk, Header

        content = io.BytesIO()
        packer = {"zstd": zstandard.ZstdCompressor().stream_writer, "lz4": None}[compression]
        if packer is None:
            with lz4.frame.LZ4FrameFile(content, "wb") as stream:
                for _ in range(1024):
                    stream.write(bytes(MEGABYTE))
        else:
            with packer(content, closefd=False) as stream:
                for _ in range(1024):
                    stream.write(bytes(MEGABYTE))
        builder = RecordBuilder()
        Header("ros2", "").write(builder)
        Chunk(compression, content.getvalue(), 0, 0, 0, announced).write(builder)
        path.write_bytes(b"\x89MCAP0\r\n" + builder.end())

    return write


def mcap_record(path: Path) -> None:
    """A record that says that it goes on for an exabyte."""
    path.write_bytes(b"\x89MCAP0\r\n" + b"\x01" + struct.pack("<Q", 2**60) + bytes(100))


def mcap_string(path: Path) -> None:
    """A header whose text is said to have 4 GB."""
    path.write_bytes(b"\x89MCAP0\r\n" + b"\x01" + struct.pack("<Q", 100) + b"\xff" * 4 + bytes(96))


LOGS = {
    "npz of zeros": ("run.npz", npz_of_zeros, "has 536870912 numbers, 4.29 GB in memory"),
    "npz of bytes": ("run.npz", npz_of_bytes, "has 536870912 numbers"),
    "npz that lies": ("run.npz", npz_that_lies, "should hold 10000000000 numbers"),
    "npz of objects": ("run.npz", npz_of_objects, "plain arrays"),
    "npz of many arrays": ("run.npz", npz_of_many, "20000 entries, at most 10000"),
    "csv of columns": ("run.csv", csv_of_columns, "1000000 columns|characters or more"),
    "csv of one line": ("run.csv", csv_of_one_line, "row 1 has 1048576 characters or more"),
    "csv of digits": ("run.csv", csv_of_digits, "row 2 has 1048576 characters or more"),
    "csv of rows": ("run.csv", csv_of_rows, "numbers, .* GB in memory"),
    "csv too large": ("run.csv", csv_too_large, "has 8.59 GB, more than max_bytes"),
    "parquet of zeros": ("run.parquet", parquet_of_zeros, "has 300000000 numbers"),
    "parquet of texts": ("run.parquet", parquet_of_texts, "numbers, .* in memory"),
    "mcap, zstd": ("run.mcap", mcap_chunk("zstd", 2**30), "a chunk of 1.07 GB"),
    "mcap, zstd that lies": ("run.mcap", mcap_chunk("zstd", 1000), "unpacks to more than the 1000 bytes"),
    "mcap, lz4 that lies": ("run.mcap", mcap_chunk("lz4", 1000), "unpacks to more than the 1000 bytes"),
    "mcap of one record": ("run.mcap", mcap_record, "not a readable MCAP file"),
    "mcap of one string": ("run.mcap", mcap_string, "not a readable MCAP file"),
}
