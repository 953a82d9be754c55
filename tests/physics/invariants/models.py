"""A random mechanism as a model, and relative errors."""

from dataclasses import replace

import numpy as np

from hybridsim.model import Model, build_spec

from ..mechanisms import Case


def model_of(case: Case, **changes) -> Model:
    """The case's model; `changes` replace fields of all its joints, or its gravity."""
    gravity = changes.pop("gravity", case.spec.gravity)
    joints = [replace(joint, **changes) for joint in case.spec.joints]
    return build_spec(replace(case.spec, joints=joints, gravity=gravity))


def relative(difference: np.ndarray, *scales: np.ndarray) -> float:
    """Norm of a difference over the sum of the norms of what it is a difference of; 1e-3 counts as zero."""
    return float(np.linalg.norm(difference) / (sum(np.linalg.norm(x) for x in scales) + 1e-3))
