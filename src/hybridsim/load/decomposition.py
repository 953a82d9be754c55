"""Approximate convex decomposition of a mesh by CoACD (Wei et al. 2022), which takes seconds and is remembered on disk."""

import hashlib
import io

import numpy as np

from ..model import ModelError
from ..native import cache

CONCAVITY = 0.05
"""How far, in units of CoACD, a part may be from its convex hull unless something else is asked for; it is CoACD's own value."""
LEAST, MOST = 0.01, 1.0
"""What CoACD allows."""


def concavity_of(decompose: bool | float) -> float | None:
    """What the option `decompose` of `load` asks for; None for nothing."""
    if isinstance(decompose, bool):
        return CONCAVITY if decompose else None
    if not (isinstance(decompose, (int, float)) and LEAST <= decompose <= MOST):
        raise ModelError(
            f"decompose is {decompose!r}; give True, False, or how concave a part may be, {LEAST:g} (many parts) to {MOST:g}"
        )
    return float(decompose)


def convex_parts(points: np.ndarray, faces: np.ndarray, concavity: float) -> list[np.ndarray]:
    """Points of the convex parts that a mesh is made of, up to `concavity`. Raises ValueError if there are none."""
    points, faces = np.ascontiguousarray(points, dtype=float), np.ascontiguousarray(faces, dtype=np.int32)
    digest = hashlib.sha256(points.tobytes() + b"/" + faces.tobytes()).hexdigest()
    key = cache.key_of("convex decomposition", digest, repr(concavity))
    if (stored := cache.read(key)) is not None:
        return _unpacked(stored)
    parts = _run(points, faces, concavity)
    cache.write(key, _packed(parts))
    return parts


def _run(points: np.ndarray, faces: np.ndarray, concavity: float) -> list[np.ndarray]:
    try:
        import coacd
    except ImportError:
        raise ModelError(
            "convex decomposition of meshes needs the package coacd: pip install 'hybridsim[shapes]', or load without decompose"
        ) from None
    coacd.set_log_level("off")
    # In a unit cube, whatever the units of the mesh.
    low, high = points.min(axis=0), points.max(axis=0)
    scale = float(np.max(high - low)) or 1.0
    try:
        found = coacd.run_coacd(coacd.Mesh((points - low) / scale, faces), threshold=concavity, seed=0)
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"it cannot be decomposed: {error}") from error
    parts = [low + scale * np.asarray(vertices, dtype=float) for vertices, _ in found if len(vertices) >= 4]
    if not parts:
        raise ValueError("its decomposition has no parts: is the mesh closed, and has it a volume?")
    return parts


def _packed(parts: list[np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, *parts)
    return file.getvalue()


def _unpacked(data: bytes) -> list[np.ndarray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return [arrays[f"arr_{i}"] for i in range(len(arrays.files))]
