"""Rotations, transforms, spatial vectors and inertias (Featherstone's algebra)."""

from .indexing import add_at, pick
from .inertia import Inertia, from_log_cholesky, six, tensor, to_log_cholesky
from .keep import KEPT, keep
from .numerics import positive_power, safe_norm, tanh_over, unit
from .rotation import (
    IDENTITY_QUATERNION,
    conjugate,
    cross,
    matrix_from_axis_angle,
    matrix_from_quaternion,
    multiply,
    quaternion_exp,
    quaternion_from_matrix,
    quaternion_log,
    rotate,
    rotate_back,
    skew,
)
from .transform import Transform
from .types import Array, Matrix3, Quaternion, Scalar, Spatial, Vector3
from .vectors import angular, cross_force, cross_motion, linear, motion_to_parent, shift_force, spatial

__all__ = [
    "IDENTITY_QUATERNION",
    "KEPT",
    "Array",
    "Inertia",
    "Matrix3",
    "Quaternion",
    "Scalar",
    "Spatial",
    "Transform",
    "Vector3",
    "add_at",
    "angular",
    "conjugate",
    "cross",
    "cross_force",
    "cross_motion",
    "from_log_cholesky",
    "keep",
    "linear",
    "matrix_from_axis_angle",
    "matrix_from_quaternion",
    "motion_to_parent",
    "multiply",
    "pick",
    "positive_power",
    "quaternion_exp",
    "quaternion_from_matrix",
    "quaternion_log",
    "rotate",
    "rotate_back",
    "safe_norm",
    "shift_force",
    "six",
    "skew",
    "spatial",
    "tanh_over",
    "tensor",
    "to_log_cholesky",
    "unit",
]
