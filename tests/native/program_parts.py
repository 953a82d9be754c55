"""More families of random steps: products, indexing, matrices, random numbers, and calls."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax

from .disturbance import contracted, disturbed
from .program_steps import is_float, is_integer, like, partner, pick
from .programs import quantised


def dot(draw, pool):
    i = pick(draw, pool, lambda s: len(s.shape) > 0 and s.dtype != bool)
    if i is None:
        return None
    j = pick(draw, pool)
    shape = pool[i].shape
    roles = [draw(st.sampled_from(["contract", "free", "batch"])) for _ in shape]
    contract, batch = ([d for d, role in enumerate(roles) if role == want] for want in ("contract", "batch"))
    free = tuple(draw(st.sampled_from([(), (3,), (2, 2), (1,)])))
    order = draw(st.permutations(range(len(contract) + len(batch) + len(free))))
    wanted = [*(shape[d] for d in contract), *(shape[d] for d in batch), *free]
    other = [order.index(k) for k in range(len(order))]
    dimensions = ((contract, other[: len(contract)]), (batch, other[len(contract) : len(contract) + len(batch)]))
    other_shape = tuple(wanted[k] for k in order)
    kind = "float64" if draw(st.booleans()) and is_float(pool[i]) else None

    def product(a, b):
        how = partial(lax.dot_general, dimension_numbers=dimensions, preferred_element_type=kind)
        return contracted(how, a, like(b, other_shape, a.dtype))

    return f"dot {dimensions} {other_shape} {kind}", product, (i, j)


def convolution(draw, pool):
    i = pick(draw, pool, lambda s: len(s.shape) >= 1 and 0 < s.size <= 256 and is_float(s))
    if i is None:
        return None
    j = pick(draw, pool, is_float)
    stride, dilation, inner = (draw(st.integers(1, 2)) for _ in range(3))
    padding = [(draw(st.integers(0, 2)), draw(st.integers(0, 2)))]
    groups = draw(st.sampled_from([1, 2]))

    def convolve(a, b):
        # Finite, as XLA multiplies what lies outside by zero and we do not.
        a, b = (jnp.nan_to_num(jnp.tanh(x)) for x in (a, b))
        signal, kernel = (disturbed(like(x, n, a.dtype)) for x, n in ((a, (2, 2, 6)), (b, (4, 2 // groups, 3))))
        return lax.conv_general_dilated(
            signal, kernel, (stride,), padding, (dilation,), (inner,), feature_group_count=groups
        )

    return f"convolution {stride} {padding} {dilation} {inner} {groups}", convolve, (i, j)


READS = {
    "take clip": lambda x, i: jnp.take(x, i, axis=0, mode="clip"),
    "take fill": lambda x, i: jnp.take(x, i, axis=0, mode="fill"),
    "take wrap": lambda x, i: jnp.take(x, i, axis=-1, mode="wrap"),
    "index": lambda x, i: x[i],
    "index last": lambda x, i: x[..., i],
    "index two": lambda x, i: x[i, ..., i] if x.ndim > 1 else x[i],
    "along axis": lambda x, i: jnp.take_along_axis(x, like(i, x.shape, np.int32), axis=0),
    "rows": lambda x, i: jax.vmap(lambda k: lax.dynamic_slice_in_dim(x, k, min(2, x.shape[0])))(i.ravel()),
    "searchsorted": lambda x, i: jnp.searchsorted(jnp.sort(i.ravel()), i.ravel() + 1),
}
WRITES = {
    "set": lambda x, i, v: x.at[i].set(v),
    "set clip": lambda x, i, v: x.at[i].set(v, mode="clip"),
    "add": lambda x, i, v: disturbed(x).at[i].add(disturbed(v)),
    "multiply": lambda x, i, v: lax.stop_gradient(x).at[i].multiply(lax.stop_gradient(v)),  # JAX has no derivative
    "min": lambda x, i, v: x.at[i].min(v),
    "max": lambda x, i, v: x.at[i].max(v),
    "add drop": lambda x, i, v: disturbed(x).at[i].add(disturbed(v), mode="drop"),
}


def indexing(draw, pool):
    i = pick(draw, pool, lambda s: len(s.shape) > 0 and s.size > 0)
    j = pick(draw, pool, lambda s: is_integer(s) and s.size <= 64)
    if i is None or j is None or max(pool[i].shape) > np.iinfo(pool[j].dtype).max:  # JAX wants to add the length
        return None
    if pool[i].dtype == bool or draw(st.booleans()):
        name = draw(st.sampled_from([*READS]))
        return name, READS[name], (i, j)
    name, k = draw(st.sampled_from([*WRITES])), pick(draw, pool)

    def write(x, index, value):
        return WRITES[name](x, index, like(value, (*index.shape, *x.shape[1:]), x.dtype))

    return f"write {name}", write, (i, j, k)


def window(draw, pool):
    """dynamic_slice and dynamic_update_slice; places come from the pool, so many lie outside."""
    i = pick(draw, pool, lambda s: len(s.shape) > 0)
    j = pick(draw, pool, is_integer)
    if i is None or j is None or pool[j].size == 0:
        return None
    sizes = tuple(draw(st.integers(0, min(n, 40))) for n in pool[i].shape)
    fixed = draw(st.booleans())

    def starts(index):
        flat = index.ravel()
        return [flat.dtype.type(1) if fixed and d == 0 else flat[d % flat.size] for d in range(len(sizes))]

    if draw(st.booleans()):
        return f"dynamic_slice {sizes} {fixed}", lambda x, at: lax.dynamic_slice(x, starts(at), sizes), (i, j)
    k = pick(draw, pool)

    def update(x, at, new):
        return lax.dynamic_update_slice(x, like(new, sizes, x.dtype), starts(at))

    return f"dynamic_update_slice {sizes} {fixed}", update, (i, j, k)


def _definite(a):
    return a @ a.mT + 2 * jnp.eye(a.shape[-1], dtype=a.dtype)


MATRICES = {
    "cholesky": lambda a, b: jnp.linalg.cholesky(_definite(a)),
    "solve": lambda a, b: jnp.linalg.solve(_definite(a), b),
    "inverse": lambda a, b: jnp.linalg.inv(_definite(a)),
    "determinant": lambda a, b: jnp.linalg.slogdet(_definite(a) + 0.1 * b)[1],
    "qr": lambda a, b: jnp.abs(jnp.linalg.qr(_definite(a))[1]),
    "lu": lambda a, b: jnp.linalg.solve(_definite(a)[..., ::-1, :], b),
    "triangular": lambda a, b: lax.linalg.triangular_solve(
        _definite(a), b, left_side=False, lower=True, transpose_a=True
    ),
    "triangular unit": lambda a, b: lax.linalg.triangular_solve(
        jnp.tanh(a), b, left_side=True, lower=False, unit_diagonal=True
    ),
    "cho_solve": lambda a, b: jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(_definite(a)), True), b),
}


def matrices(draw, pool):
    i, j = (pick(draw, pool, lambda s: is_float(s) and s.size > 0) for _ in range(2))
    if i is None:
        return None
    name, n = draw(st.sampled_from([*MATRICES])), draw(st.integers(1, 4))
    batch = draw(st.sampled_from([(), (2,)]))

    def apply(a, b):
        small = [disturbed(jnp.nan_to_num(jnp.tanh(like(x, (*batch, n, n), "float64")))) for x in (a, b)]
        return MATRICES[name](*small)

    return f"{name} of {n}", apply, (i, j)


def random_numbers(draw, pool):
    i = pick(draw, pool, lambda s: str(s.dtype) == "uint32" and s.size > 0)
    i = pick(draw, pool, is_integer) if i is None else i
    if i is None or pool[i].size == 0:
        return None
    typed, shape = draw(st.booleans()), draw(st.sampled_from([(), (3,), (2, 2)]))
    name = draw(st.sampled_from(["uniform", "normal", "bits", "split", "randint", "fold_in"]))

    def apply(x):
        words = like(x, (2,), np.uint32)
        key = jax.random.wrap_key_data(words) if typed else words
        if name == "split":
            keys = jax.random.split(key, 3)
            return jax.vmap(lambda k: jax.random.uniform(k, shape))(keys[1:])
        if name == "fold_in":
            return jax.random.uniform(jax.random.fold_in(key, words[0]), shape)
        if name == "randint":
            return jax.random.randint(key, shape, -4, 9)
        return getattr(jax.random, name)(key, shape)

    return f"random {name} {typed}", apply, (i,)


@jax.custom_jvp
def smooth_step(x):
    return jnp.tanh(3 * x)


@smooth_step.defjvp
def _smooth_step_jvp(primals, tangents):
    return smooth_step(*primals), 0.5 * tangents[0] * jnp.cos(primals[0])


@jax.custom_vjp
def clipped(x):
    return jnp.clip(quantised(x), -1, 1) + 0 * x.sum()


clipped.defvjp(lambda x: (clipped(x), x), lambda x, g: (g * jnp.cos(x),))


def calls(draw, pool):
    i = pick(draw, pool, is_float)
    if i is None:
        return None
    j, fit = partner(draw, pool, pool[i])
    functions = {
        "custom_jvp": lambda a, b: smooth_step(a) * fit(b),
        "custom_vjp": lambda a, b: clipped(a) - fit(b),
        "jit": jax.jit(lambda a, b: jnp.sin(a) + fit(b)),
        "checkpoint": jax.checkpoint(lambda a, b: jnp.sin(jnp.cos(a) * fit(b))),
        "map": lambda a, b: lax.map(lambda x: jnp.sin(x) * 2, a) if a.ndim else a,
        "vmap": lambda a, b: (
            jax.vmap(lambda x, y: jnp.outer(x, y).sum() + x)(disturbed(a), disturbed(fit(b)))
            if a.ndim and a.size < 65
            else a
        ),
        "associative": lambda a, b: lax.associative_scan(jnp.add, disturbed(a)) if a.ndim and a.shape[0] else a,
        "linear_solve": lambda a, b: lax.custom_linear_solve(
            lambda x: 2.0 * x, a, lambda f, y: y / 2.0, transpose_solve=lambda f, y: y / 2.0
        ),
    }
    name = draw(st.sampled_from([*functions]))
    return name, functions[name], (i, j)
