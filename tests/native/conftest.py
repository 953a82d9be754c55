"""Compiled code of tests goes to a folder of its own, so that no test depends on an earlier run."""

import pytest


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
