"""Rotations, transforms, spatial vectors and inertias (Featherstone's algebra)."""

from .indexing import add_at, added_at, block_added_at, lowered_at, pick, row, row_added_at, rows_at, with_row
from .inertia import Inertia, from_log_cholesky, six, tensor, to_log_cholesky
from .keep import KEPT, keep
from .linear_map import linear_map
from .loops import for_each, total
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
from .scratch import in_memory, once_if, scratch
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
    "added_at",
    "angular",
    "block_added_at",
    "conjugate",
    "cross",
    "cross_force",
    "cross_motion",
    "for_each",
    "from_log_cholesky",
    "in_memory",
    "keep",
    "linear",
    "linear_map",
    "lowered_at",
    "matrix_from_axis_angle",
    "matrix_from_quaternion",
    "motion_to_parent",
    "multiply",
    "once_if",
    "pick",
    "positive_power",
    "quaternion_exp",
    "quaternion_from_matrix",
    "quaternion_log",
    "rotate",
    "rotate_back",
    "row",
    "row_added_at",
    "rows_at",
    "safe_norm",
    "scratch",
    "shift_force",
    "six",
    "skew",
    "spatial",
    "tanh_over",
    "tensor",
    "to_log_cholesky",
    "total",
    "unit",
    "with_row",
]
