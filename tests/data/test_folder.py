"""Finding the measurements, and saying what to do where they are not."""

import pytest

from hybridsim.data import VARIABLE, DataError, data_folder


def test_finds_the_dataset_in_the_named_folder(monkeypatch, tmp_path):
    (tmp_path / "some-set").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert data_folder("some-set") == tmp_path / "some-set"


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_is_not_set_is_named(value, monkeypatch):
    if value is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(DataError, match=r"HYBRIDSIM_DATA names, but it is not set; set it to .* some-set/"):
        data_folder("some-set")


def test_a_missing_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(DataError) as error:
        data_folder("some-set")
    assert str(tmp_path / "some-set") in str(error.value)
    assert f"set {VARIABLE}" in str(error.value)
