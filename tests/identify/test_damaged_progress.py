"""A fit that was interrupted, and whose progress was damaged afterwards, still ends where an uninterrupted one ends."""

from contextlib import suppress

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import journal

from .damage import DAMAGE
from .test_killed import check_same, recording

OPTIONS = {"solver": hs.LevenbergMarquardt(tolerance=1e-300, iterations=12), "window": 0.3, "contact": None}


def fitted(folder=None, resume=False) -> hs.Fit:
    free = [hs.Free("joint/*/damping", 0.0, 2.0, start=0.5), hs.Free("link/link2/mass", 0.2, 5.0)]
    return hs.fit(hs.chain(2, length=0.5, mass=1.2), recording(), free, **OPTIONS, folder=folder, resume=resume)


@pytest.fixture(scope="module")
def whole() -> hs.Fit:
    return fitted()


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """The folder of a fit that was stopped after its third iteration."""
    note = journal.Journal.note

    def note_and_stop(self, stage, iteration, cost, state):
        note(self, stage, iteration, cost, state)
        if iteration == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(journal, "_SECONDS", 0.0)
        patch.setattr(journal.Journal, "note", note_and_stop)
        assert fitted(tmp_path).done == "stopped"
    return tmp_path


@pytest.mark.parametrize("damage", DAMAGE)
def test_one_damaged_checkpoint(damage, interrupted, whole):
    DAMAGE[damage](interrupted / "progress.npz")
    with pytest.warns(UserWarning, match=r"progress\.npz is damaged .* continues from the checkpoint before"):
        check_same(fitted(interrupted, resume=True), whole)


def test_two_damaged_checkpoints(interrupted, whole):
    for path in interrupted.iterdir():
        path.write_bytes(b"")
    with pytest.warns(UserWarning, match="starts from its beginning"):
        check_same(fitted(interrupted, resume=True), whole)
    check_same(fitted(interrupted, resume=True), whole)  # without a warning


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["fit.json", "fit.npz", "model/model.json", "model/numbers.safetensors"])
def test_a_damaged_result_is_wrong_input(name, damage, whole, tmp_path):
    whole.save(tmp_path)
    DAMAGE[damage](tmp_path / name)
    with suppress(ValueError):  # some bytes of a file say nothing
        np.testing.assert_array_equal(hs.load_fit(tmp_path).covariance, whole.covariance)
