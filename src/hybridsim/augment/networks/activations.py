"""Activation functions by name."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

ACTIVATIONS: dict[str, Callable] = {
    "elu": jax.nn.elu,
    "gelu": jax.nn.gelu,
    "identity": lambda x: x,
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "silu": jax.nn.silu,
    "sin": jnp.sin,
    "softplus": jax.nn.softplus,
    "softsign": jax.nn.soft_sign,
    "tanh": jnp.tanh,
}


def check_activation(name: str) -> None:
    if name not in ACTIVATIONS:
        raise ValueError(f"no activation is called {name!r}; there are: {', '.join(ACTIVATIONS)}")
