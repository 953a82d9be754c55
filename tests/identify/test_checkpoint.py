"""Checkpoints survive damage: it is seen, said and set aside, and the one before serves."""

import os
from pathlib import Path

import numpy as np
import pytest

from hybridsim.identify.checkpoint import read_checkpoint, write_checkpoint

from .damage import DAMAGE

FIRST = {
    "a.npz": {"z": np.arange(100.0), "stage": np.array("fit")},
    "a.json": {"chosen": [["friction", "elbow"]], "z": [0.1, float("inf")]},
}
SECOND = {
    "a.npz": {"z": np.arange(100.0) / 3, "stage": np.array("fit, noise known")},
    "a.json": {"chosen": [], "z": [1 / 3, -0.0]},
}


def same(found: dict | None, expected: dict | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return found.keys() == expected.keys() and all(np.array_equal(found[k], expected[k]) for k in expected)


@pytest.fixture(params=FIRST)
def written(request, tmp_path) -> Path:
    path = tmp_path / request.param
    write_checkpoint(path, FIRST[request.param])
    write_checkpoint(path, SECOND[request.param])
    return path


def test_the_last_one_is_read(written):
    assert same(read_checkpoint(written), SECOND[written.name])
    assert read_checkpoint(written.with_name(f"other{written.suffix}")) is None


@pytest.mark.parametrize("damage", DAMAGE)
def test_after_damage_the_one_before_serves(damage, written):
    DAMAGE[damage](written)
    with pytest.warns(
        UserWarning, match=r"is damaged .* renamed to .*damaged-1; .* continues from the checkpoint"
    ) as said:
        found = read_checkpoint(written)
    assert same(found, FIRST[written.name])
    assert str(written) in str(said[0].message)
    assert os.path.lexists(f"{written}.damaged-1")


@pytest.mark.parametrize("damage", DAMAGE)
def test_where_both_are_damaged_there_is_none(damage, written):
    before = written.with_name(f"a.previous{written.suffix}")
    DAMAGE[damage](written)
    DAMAGE[damage](before)
    with pytest.warns(UserWarning, match="starts from its beginning") as said:
        assert read_checkpoint(written) is None
    assert str(before) in str(said[0].message)
    write_checkpoint(written, FIRST[written.name])
    assert same(read_checkpoint(written), FIRST[written.name])
    assert len(list(written.parent.iterdir())) == 3  # nothing was deleted


def test_every_flipped_bit_is_seen(written):
    data = written.read_bytes()
    for k in range(0, 8 * len(data), 13):
        changed = bytearray(data)
        changed[k // 8] ^= 1 << k % 8
        written.write_bytes(changed)
        with pytest.warns(UserWarning, match="its checksum is wrong"):
            assert same(read_checkpoint(written), FIRST[written.name])
        next(written.parent.glob("*.damaged-*")).unlink()


def test_a_process_that_dies_between_two_checkpoints_leaves_the_one_before(written):
    written.unlink()
    assert same(read_checkpoint(written), FIRST[written.name])


def test_a_new_run_does_not_fall_back_on_an_older_one(written):
    write_checkpoint(written, SECOND[written.name], continued=False)
    DAMAGE["empty"](written)
    with pytest.warns(UserWarning, match="it is empty"):
        assert read_checkpoint(written) is None
