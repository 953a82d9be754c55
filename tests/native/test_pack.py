"""Packing rows into vectors changes no bit, and happens where it should."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.native.compile import compile_text, pointer
from hybridsim.native.emit import Emitter
from hybridsim.native.live import facts
from hybridsim.native.pack import pack
from hybridsim.native.program import Program, lower
from hybridsim.native.rebuild import WIDTH, Rebuilt

RNG = np.random.default_rng(5)


def packed_and_not(f, *args) -> tuple[list[np.ndarray], list[np.ndarray], Rebuilt]:
    """Results of both kinds of code."""
    program = lower(jax.make_jaxpr(f)(*args))
    packed = pack(program.graph, program.rows)
    assert packed is not None, "nothing was packed"
    with_ = Emitter(packed.graph, WIDTH, vectors=packed.vectors)
    inputs = [np.asarray(x) for x in jax.tree.leaves(args)]
    return run(with_, program, inputs), run(Emitter(program.graph), program, inputs), packed


def run(emitter: Emitter, program: Program, inputs: list[np.ndarray]) -> list[np.ndarray]:
    text = emitter.function("kernel", program.inputs, program.outputs).replace("define internal", "define")
    compiled = compile_text(text, "kernel")
    inputs = [np.ascontiguousarray(x, b.type.dtype) for x, b in zip(inputs, program.inputs, strict=True)]
    outputs = [np.zeros(b.size, b.type.dtype) for b in program.outputs]
    workspace = np.zeros(emitter.workspace_size + 64, np.uint8)
    tables = [(ctypes.c_void_p * max(len(x), 1))(*(a.ctypes.data for a in x)) for x in (inputs, outputs)]
    pointer(compiled, *[ctypes.c_void_p] * 3)(*tables, workspace.ctypes.data)
    return outputs


def rotations(x):
    """Four bodies that turn, for many steps."""

    def step(carry, _):
        angle, speed = carry
        s, c = jnp.sin(angle), jnp.cos(angle)
        force = jnp.stack([c * speed[:, 0] - s, s * speed[:, 1] + c], axis=1)
        speed = speed * 0.99 + 0.01 * force / (1 + jnp.abs(force))
        return (angle + 0.01 * speed.sum(1), speed), angle

    return jax.lax.scan(step, (x, jnp.ones((4, 2))), None, length=20)


def branching(x):
    y = jnp.exp(-x) * x + jnp.sqrt(jnp.abs(x))
    z = jax.lax.cond(y[0] > 0.5, lambda y: y * jnp.arange(4.0) + 1, lambda y: y / (1 + y * y), y)
    w = jax.lax.while_loop(
        lambda c: c[0, 0] < 3, lambda c: c * 1.1 + 0.1 * jnp.abs(c), jnp.abs(z)[:, None] + jnp.eye(4)
    )
    return z, w.sum(1), jnp.cumsum(w, axis=0)


def indexed(x):
    """Rows that meet in memory which is read at places known only when it runs."""
    table = jnp.tanh(x[:, None] * jnp.arange(1.0, 4.0))
    i = jnp.int64(jnp.abs(x[0]) * 10) % 4
    table = table.at[i].add(table[(i + 1) % 4])
    return table @ table.T, table[i]


def mixed_signs(x):
    """Rows that are alike but for a constant."""
    y = (x * jnp.array([1.0, -1.0, 0.0, 2.0]) + x[::-1]) * x - jnp.array([0.0, 1.0, 2.0, 3.0]) / (2 + x * x)
    return jnp.sin(y) * jnp.tanh(y)


@pytest.mark.parametrize("f", [rotations, branching, indexed, mixed_signs])
def test_packing_changes_no_bit(f):
    x = RNG.normal(size=4)
    packed, plain, _ = packed_and_not(f, x)
    for a, b in zip(packed, plain, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(packed, jax.tree.leaves(jax.jit(f)(x)), strict=True):
        np.testing.assert_allclose(a, np.ravel(b), rtol=1e-12, atol=1e-14)


def test_gradients_too():
    x = RNG.normal(size=4)
    packed, plain, _ = packed_and_not(jax.grad(lambda x: jnp.sum(rotations(x)[1] ** 2)), x)
    np.testing.assert_array_equal(packed[0], plain[0])


def four_legs() -> hs.Model:
    links = [hs.solid("trunk", 6.0, "box", (0.2, 0.05, 0.06))]
    joints = [hs.Joint("root", "free", "world", "trunk")]
    for leg, x, y in (("fl", 0.2, 0.05), ("fr", 0.2, -0.05), ("rl", -0.2, 0.05), ("rr", -0.2, -0.05)):
        links += [hs.solid(f"{leg}{k}", 1.0, "capsule", (0.02, 0.1), (0.0, 0.0, -0.1)) for k in (1, 2)]
        joints.append(hs.Joint(f"{leg}_hip", "revolute", "trunk", f"{leg}1", position=(x, y, 0.0), axis=(1, 0, 0)))
        joints.append(hs.Joint(f"{leg}_knee", "revolute", f"{leg}1", f"{leg}2", position=(0, 0, -0.2), axis=(0, 1, 0)))
    return hs.build(links, joints)


def test_the_legs_of_a_quadruped_share_vectors():
    model = four_legs()
    q, _ = model.rest()
    q[7:] = RNG.normal(size=8)
    qd, tau = RNG.normal(size=14), RNG.normal(size=14)
    packed, plain, rebuilt = packed_and_not(lambda q, qd, tau: hs.forward_dynamics(model, q, qd, tau), q, qd, tau)
    np.testing.assert_array_equal(packed[0], plain[0])
    np.testing.assert_allclose(packed[0], hs.forward_dynamics(model, q, qd, tau), rtol=1e-11)
    # At least half of the arithmetic is in vectors, each of which stands for four operations.
    arithmetic = {"add", "sub", "mul", "div", "fma", "fms", "fnma"}
    live = [v for v in facts(rebuilt.graph).live if rebuilt.graph.ops[v] in arithmetic]
    vectors = sum(v in rebuilt.vectors for v in live)
    assert vectors * WIDTH > len(live) - vectors
