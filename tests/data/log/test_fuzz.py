"""Random damage: either a `DataError`, or every number that is not masked is one that the file gives for that time."""

import numpy as np
import pytest

from hybridsim.data import DataError

from .truth import DT, NAMES, QD, ROWS, TAU, Q, agrees, lines, read, table, write

TRUE = np.concatenate([Q, QD, TAU], 1)
NOISE = [
    b",",
    b"\n",
    b"\r",
    b" ",
    b";",
    b"x",
    b"-",
    b".",
    b"e",
    b"\x00",
    b"\xff",
    b'"',
    b"#",
    b"E9",
    b"\t",
    b"nan",
    b"_",
]


def clean() -> bytes:
    return ("\n".join(lines()) + "\n").encode()


def cells_of(damaged: bytes) -> set[float]:
    """Numbers that the damaged file has and the clean one has not: a reader cannot know that they are wrong."""

    def parts(data: bytes) -> set[bytes]:
        for sign in b';\n\r\t |"':
            data = data.replace(bytes([sign]), b",")
        return {p.strip() for p in data.split(b",")}

    found = set()
    for cell in parts(damaged) - parts(clean()):
        try:
            found.add(round(float(cell), 6))
        except ValueError:
            continue
    return found


def harmless(trajectory, damaged: bytes) -> bool:
    """As `agrees`, but a number that was written into the file may appear, as may a row at a stamp written there."""
    new = cells_of(damaged)
    full = [
        np.zeros((len(trajectory), 2)) if a is None else a for a in (trajectory.q, trajectory.qd, trajectory.controls)
    ]
    masks = [np.zeros((len(trajectory), 2), bool) if a is None else a
             for a in (trajectory.q_mask, trajectory.qd_mask, trajectory.controls_mask)]  # fmt: skip
    values, mask = np.concatenate(full, 1), np.concatenate(masks, 1)
    # The line may have moved by lines lost or added; the numbers say which it was.
    place = np.zeros(len(trajectory))
    for k, line in enumerate(trajectory.rows - 2):
        near = sorted(range(max(line - 8, 0), min(line + 9, ROWS)), key=lambda r: abs(r - line))
        fits = [r for r in near if _row_fits(values[k], TRUE[r], mask[k], new)]
        if not fits:
            return False
        place[k] = fits[0]
    shift = trajectory.time - DT * place
    usual = np.median(shift)
    late = np.abs(shift - usual) > 1e-6
    return all(round(float(t - usual), 6) in new for t in trajectory.time[late])


def _row_fits(values, true, mask, new) -> bool:
    close = np.abs(values - true) < 2e-9
    return all(close[c] or round(float(values[c]), 6) in new for c in range(6) if mask[c])


@pytest.mark.parametrize("seed", range(100))
def test_random_bytes(seed, tmp_path, arm):
    rng = np.random.default_rng(seed)
    damaged = bytearray(clean())
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(len(damaged)))
        kind = rng.integers(4)
        if kind == 0:
            damaged[at : at + 1] = NOISE[rng.integers(len(NOISE))]
        elif kind == 1:
            damaged[at:at] = NOISE[rng.integers(len(NOISE))]
        elif kind == 2:
            del damaged[at : at + int(rng.integers(1, 40))]
        else:
            damaged[at : at + 1] = rng.bytes(1)
    try:
        trajectory, _ = read(write(tmp_path, bytes(damaged)), arm)
    except DataError:
        return
    assert harmless(trajectory, bytes(damaged))
    assert len(trajectory) > ROWS / 2


@pytest.mark.parametrize("seed", range(60))
def test_random_cells(seed, tmp_path, arm):
    """Cells are lost or become garbage, rows are lost, doubled or swapped: what is left is the truth at its time."""
    rng = np.random.default_rng(1000 + seed)
    words = ["", "nan", "inf", "-inf", "ERR", "1e400", "#", "0.1.2", "--", "null", "1e200", "?", "0x1F", "1,2"]
    rows = [line.split(",") for line in lines()[1:]]
    for _ in range(rng.integers(1, 12)):
        rows[rng.integers(1, len(rows))][rng.integers(0, len(NAMES))] = words[rng.integers(len(words))]
    kept = [row for i, row in enumerate(rows) if i == 0 or rng.random() > 0.02]
    for _ in range(rng.integers(0, 3)):
        i = int(rng.integers(1, len(kept)))
        kept.insert(i, list(kept[i]))
    for _ in range(rng.integers(0, 3)):
        i = int(rng.integers(1, len(kept) - 1))
        kept[i], kept[i + 1] = kept[i + 1], kept[i]
    text = [lines()[0], *(",".join(row) for row in kept)]
    try:
        trajectory, _ = read(write(tmp_path, text), arm)
    except DataError:
        pytest.fail("a little damage is repaired, not refused")
    assert agrees(trajectory)
    assert len(trajectory) > 0.85 * ROWS


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("suffix", ["npz", "parquet", "mcap"])
def test_random_bytes_of_binary_files(suffix, seed, tmp_path, arm, binary_files):
    """Their formats have check sums or none; whatever happens is a DataError or finite numbers, no other error."""
    rng = np.random.default_rng(seed)
    damaged = bytearray(binary_files[suffix])
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(damaged)))
        if rng.random() < 0.3:
            del damaged[at:]
        else:
            damaged[at : at + 1] = rng.bytes(1)
        if not damaged:
            break
    try:
        trajectory, _ = read(write(tmp_path, bytes(damaged), f"run.{suffix}"), arm)
    except DataError:
        return
    assert np.isfinite(trajectory.q).all()
    if suffix == "npz":
        assert agrees(trajectory), "zip has check sums"


@pytest.fixture(scope="module")
def binary_files(tmp_path_factory) -> dict[str, bytes]:
    from .formats import write_mcap, write_npz, write_parquet

    pytest.importorskip("pyarrow")
    pytest.importorskip("mcap")
    folder = tmp_path_factory.mktemp("binary")
    paths = [write(folder) for write in (write_npz, write_parquet, write_mcap)]
    return {path.suffix[1:]: path.read_bytes() for path in paths}


def test_the_clean_file_is_clean(tmp_path, arm):
    trajectory, warning = read(write(tmp_path, clean()), arm)
    assert warning == ""
    assert harmless(trajectory, clean())
    np.testing.assert_array_equal(trajectory.q, table()[:, 1:3])
