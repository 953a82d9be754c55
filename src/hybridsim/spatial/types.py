"""Array types shared by all signatures.

NumPy and JAX arrays are both welcome: models are built with NumPy float64 leaves, so that they are
exact whatever JAX's global precision is, and become JAX arrays where JAX transforms them.
"""

import jax
import numpy as np
from jaxtyping import Float

Array = jax.Array | np.ndarray
Scalar = float | int | Float[jax.Array, ""] | Float[np.ndarray, ""] | np.floating
# Leading axes broadcast ("#"), so that one vector can meet many.
Vector3 = Float[Array, "*#batch 3"]
Quaternion = Float[Array, "*#batch 4"]
Matrix3 = Float[Array, "*#batch 3 3"]
Spatial = Float[Array, "*#batch 6"]
"""Angular part first (Featherstone)."""
