"""Number types: JAX's dtypes and LLVM's names for them."""

from dataclasses import dataclass
from functools import cache, cached_property

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Type:
    name: str
    llvm: str
    bits: int
    kind: str
    """f float, i signed, u unsigned, b boolean"""

    @cached_property
    def dtype(self) -> np.dtype:
        return np.dtype(self.name)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def signed(self) -> bool:
        return self.kind == "i"


F64 = Type("float64", "double", 64, "f")
F32 = Type("float32", "float", 32, "f")
BOOL = Type("bool", "i1", 1, "b")
INDEX = Type("int64", "i64", 64, "i")
_ALL = [F64, F32, BOOL, INDEX]
_ALL += [Type(f"int{n}", f"i{n}", n, "i") for n in (8, 16, 32)]
_ALL += [Type(f"uint{n}", f"i{n}", n, "u") for n in (8, 16, 32, 64)]
_BY_NAME = {t.name: t for t in _ALL}
SUPPORTED = ", ".join(_BY_NAME)
"""Names, for messages."""


def is_key(dtype) -> bool:
    """Whether these are JAX's typed keys of random numbers."""
    return jnp.issubdtype(dtype, jax.dtypes.prng_key)


def dtype_name(dtype) -> str:
    """The name of a type; NumPy has none for JAX's keys of random numbers and its gradients of integers."""
    if is_key(dtype):
        return str(dtype)
    return "float0" if dtype == jax.dtypes.float0 else np.dtype(dtype).name


class UnsupportedTypeError(TypeError):
    """Numbers of a type that native code does not have."""

    def __init__(self, reason: str):
        super().__init__(f'{reason}; use {SUPPORTED}, or pass fallback="xla"')


@cache
def type_of(dtype) -> Type:
    """A key of random numbers is one integer of 64 bits, whose halves, the low one first, are the key's two words."""
    if is_key(dtype):
        if dtype._impl.key_shape != (2,):
            raise UnsupportedTypeError(f"random keys of the kind {dtype.name} are not supported")
        return _BY_NAME["uint64"]
    name = dtype_name(dtype)
    if name not in _BY_NAME:
        raise UnsupportedTypeError(f"numbers of type {name} are not supported")
    return _BY_NAME[name]
