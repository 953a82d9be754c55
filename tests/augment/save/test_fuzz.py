"""Damage at random: a file gives the model that was saved, or an error of the one kind. Nothing else."""

import copy
import random
import warnings

import jax
import numpy as np
import pytest
from safetensors.numpy import load, save

import hybridsim as hs
from hybridsim.augment import HybridFileError, load_hybrid, save_hybrid

from .models import arm, cube, fingers, laws, members, resealed, structure, zipped


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[tuple[hs.Model, bytes]]:
    folder = tmp_path_factory.mktemp("good")
    found = []
    for make in (arm, cube, fingers, laws):
        model, path = make(), folder / f"{make.__name__}.hybrid"
        save_hybrid(model, path)
        found.append((model, path.read_bytes()))
    return found


def loaded(path, content: bytes) -> hs.Model | None:
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return load_hybrid(path)
        except HybridFileError:
            return None


def assert_same(model: hs.Model, again: hs.Model) -> None:
    assert jax.tree.structure(model) == jax.tree.structure(again)
    for a, b in zip(jax.tree.leaves(model), jax.tree.leaves(again), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Bytes flipped, cut out, put in, moved or repeated."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 4, 8, 100, 1000])
        kind = rng.randrange(5)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + length]
        elif kind == 2:
            data[at:at] = rng.randbytes(length)
        elif kind == 3:
            data[at : at + length] = rng.choice([b"\0", b"\xff", b"9"]) * length
        else:
            data[at:at] = data[at : at + length]
        data = data or bytearray(1)
    return bytes(data)


VALUES = [
    None, True, False, 0, -1, 1, 2, 3, 7, 10**6, 2**31, 2**64, -(10**30), 0.5, 1e308, "", "*", "joint.velocity", "Custom",
    "\ud800", "a" * 1000, [], [[]], [0], [[0]], [[0, 1]], {}, {"class": "MLP"}, {"class": "Custom", "name": "x"},
    {"float": "inf"}, {"constant": "x", "place": 0},
]  # fmt: skip


def edited(value, rng: random.Random):
    """A JSON value with one part of it changed, left out, repeated or exchanged."""
    value = copy.deepcopy(value)
    here = value
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return value
        key = rng.choice(keys)
        deeper = isinstance(here[key], dict | list) and here[key] and rng.random() < 0.8
        if deeper:
            here = here[key]
            continue
        kind = rng.randrange(4)
        if kind == 0:
            del here[key]
        elif kind == 1 and isinstance(here, list):
            here.insert(key, copy.deepcopy(rng.choice(here)))
        elif kind == 2:
            other = rng.choice(keys)
            here[key], here[other] = here[other], here[key]
        else:
            here[key] = copy.deepcopy(rng.choice(VALUES))
        return value


def few_or_many(few: int, many: int):
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.slow)])


@few_or_many(400, 20_000)
def test_bytes(count, files, tmp_path):
    rng = random.Random(0)
    whole = 0
    for _ in range(count):
        model, content = rng.choice(files)
        if (again := loaded(tmp_path / "m.hybrid", damaged(content, rng))) is not None:
            assert_same(model, again)
            whole += 1
    assert whole < count / 2


@few_or_many(200, 5_000)
def test_bytes_of_a_member(count, files, tmp_path):
    """The zip is whole, so that the damage reaches what is in it."""
    rng = random.Random(1)
    for _ in range(count):
        model, content = rng.choice(files)
        (tmp_path / "good.hybrid").write_bytes(content)
        parts = members(tmp_path / "good.hybrid")
        name = rng.choice(list(parts))
        if (again := loaded(tmp_path / "m.hybrid", zipped(parts | {name: damaged(parts[name], rng)}))) is not None:
            assert_same(model, again)


@few_or_many(200, 20_000)
def test_edits_with_checksums_that_agree(count, files, tmp_path):
    """As a stranger would make them: another model may come out, but no other error."""
    rng = random.Random(2)
    opened = []
    for _, content in files:
        (tmp_path / "good.hybrid").write_bytes(content)
        parts = members(tmp_path / "good.hybrid")
        opened.append((parts, structure(parts), load(parts["numbers.safetensors"])))
    for _ in range(count):
        parts, document, numbers = rng.choice(opened)
        for _ in range(rng.choice([1, 1, 2, 3])):
            document = edited(document, rng)
        stored = parts["numbers.safetensors"]
        if rng.random() < 0.2:
            stored = damaged(stored, rng) if rng.random() < 0.5 else save(_shuffled(numbers, rng))
        again = loaded(tmp_path / "m.hybrid", resealed(parts, document, stored))
        if again is not None:
            hash(jax.tree.structure(again))
            save_hybrid(again, tmp_path / "again.hybrid")


def _shuffled(numbers: dict[str, np.ndarray], rng: random.Random) -> dict[str, np.ndarray]:
    a, b = rng.sample(list(numbers), 2)
    return numbers | {a: numbers[b], b: numbers[a]}
