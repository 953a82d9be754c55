"""How much a log may hold. A small file can announce, or unpack to, more than any memory; then it is refused unread."""

from pathlib import Path

from ...reading import amount
from ..folder import DataError

MOST_BYTES = 2**31
"""Of a log, both on disk and as numbers of 8 bytes. An hour at 1 kHz with four numbers of each of 7 joints is 0.84 GB as
numbers and about as much as CSV; reading needs about twice that in memory."""
MOST_COLUMNS = 10_000
"""A humanoid with 100 joints and ten numbers of each has 1,000."""
LONGEST_LINE = 2**20
"""Of a text table [characters]: 100 for each of the columns above."""
LARGEST_CHUNK = 128 * 2**20
"""Of an MCAP file, unpacked [bytes]. Recorders write chunks of 1 to 4 MB; a whole one is in memory several times."""


def check_numbers(path: Path | str, count: int, max_bytes: int) -> None:
    """That so many numbers may be taken into memory."""
    if 8 * count > max_bytes:
        raise DataError(
            f"{path} has {count} numbers, {amount(8 * count)} in memory and more than max_bytes ({amount(max_bytes)}); cut it "
            "into runs, leave columns out, or raise max_bytes if the memory has room for twice as much"
        )


def check_columns(path: Path | str, count: int) -> None:
    if count > MOST_COLUMNS:
        raise DataError(f"{path} has {count} columns, and at most {MOST_COLUMNS} are read; leave some out")
