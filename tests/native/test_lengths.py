"""One compilation serves every length of a rollout, with the right numbers for each."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim import native
from hybridsim.native import build, compile
from hybridsim.native.lengths import rewrite
from hybridsim.native.lengths.affine import Affine
from hybridsim.native.lengths.general import general

from .long_programs import PROGRAMS, described, drive, instance, states

LENGTHS = [50, 3, 4, 7, 100, 1000, 2500]
MODEL = hs.chain(2, damping=0.1)
START = np.array([0.3, -0.2]), np.array([0.1, 0.4])


class Counter(list):
    """Of what was lowered and compiled: "lowered" for any lengths, "lowered for one length", "compiled"."""

    def of(self, *words: str) -> list[int]:
        return [self.count(word) for word in words]


@pytest.fixture
def counted(monkeypatch) -> Counter:
    found = Counter()
    lower, compile_now = build.lower, compile._compile

    def lowered(program):
        found.append("lowered" if hasattr(program, "lengths") else "lowered for one length")
        return lower(program)

    def compiled(*arguments):
        found.append("compiled")
        return compile_now(*arguments)

    monkeypatch.setattr(build, "lower", lowered)
    monkeypatch.setattr(compile, "_compile", compiled)
    return found


def agree(found, expected, tolerance: float = 1e-11) -> None:
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        scale = float(np.max(np.abs(y), initial=1e-30))
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * scale)


def controls(steps: int) -> np.ndarray:
    return np.random.default_rng(steps).normal(size=(steps, 2))


def motion(q, qd, controls):
    return hs.rollout(MODEL, (q, qd), controls, dt=1e-3, contact=None)


def closed(steps: int):
    """With the number of steps in a closure."""
    return lambda q, qd, _: hs.rollout(MODEL, (q, qd), dt=1e-3, steps=steps, contact=None)


def loss(q, qd, controls):
    """Means, last states, single coordinates: what losses are made of."""
    made = motion(q, qd, controls)
    misses = jnp.mean((made.q - 0.1) ** 2) + jnp.var(made.qd) + jnp.mean(jnp.abs(controls), axis=0).sum()
    return misses + jnp.sum(made[-1].qd ** 2) + jnp.sum(made.q[:, 0]) + jnp.max(made.q) + made.t[-1]


FUNCTIONS = {
    "forward": lambda steps: motion,
    "steps in a closure": closed,
    "one number": lambda steps: loss,
    "gradient": lambda steps: jax.value_and_grad(loss, (0, 1, 2)),
    "tangents": lambda steps: lambda *args: jax.jvp(loss, args, args),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_compilation_serves_every_length(name, counted):
    for steps in LENGTHS:
        f, arguments = FUNCTIONS[name](steps), (*START, controls(steps))
        agree(native.jit(f)(*arguments), jax.jit(f)(*arguments))
    assert counted == ["lowered", "compiled"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_compilation_serves_every_length_of_a_batch(name, counted):
    for steps in LENGTHS[:5]:
        f = FUNCTIONS[name](steps)
        starts = [np.random.default_rng(k).normal(size=(5, 2)) for k in (0, 1)]
        shared = (*starts, controls(steps))
        together = native.batch(f, (0, 0, None), threads=1)(*shared)
        agree(together, jax.jit(jax.vmap(f, (0, 0, None)))(*shared))
    assert counted == ["lowered", "compiled"]


def test_value_and_grad_for_every_length(counted):
    for steps in LENGTHS:
        arguments = (*START, controls(steps))
        found = native.value_and_grad(loss, (0, 1, 2))(*arguments)
        agree(found, jax.jit(jax.value_and_grad(loss, (0, 1, 2)))(*arguments))
    assert counted == ["lowered", "compiled"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_shortest_lengths_are_right(name):
    for steps in (0, 1, 2):
        if steps or name == "forward":
            f, arguments = FUNCTIONS[name](steps), (*START, controls(steps))
            agree(native.jit(f)(*arguments), jax.jit(f)(*arguments))


def test_the_same_bits_for_any_lanes_and_threads():
    gradient = jax.value_and_grad(loss, (0, 1, 2))
    one = native.jit(gradient)
    starts = [np.random.default_rng(k).normal(size=(9, 2)) for k in (0, 1)]
    for steps in (5, 130):
        given = controls(steps)
        rows = [one(*(x[k] for x in starts), given) for k in range(9)]
        expected = jax.tree.map(lambda *x: np.stack(x), *rows)
        for lanes, threads in ((1, 1), (2, 1), (4, 2), (8, 3)):
            together = native.batch(gradient, (0, 0, None), lanes=lanes, threads=threads)(*starts, given)
            jax.tree.map(np.testing.assert_array_equal, together, expected)


@pytest.mark.parametrize("steps", [40, 300])
def test_the_same_bits_as_a_program_for_this_length_alone(monkeypatch, steps):
    """Arrays are summed in another order, so only what comes out of the loop is compared."""
    gradient = jax.grad(lambda q, qd, u: jnp.sum(motion(q, qd, u)[-1].q), (0, 1, 2))
    arguments = (*START, controls(steps))
    found = native.jit(gradient)(*arguments)
    monkeypatch.setattr("hybridsim.native.function.general", lambda closed: None)
    jax.tree.map(np.testing.assert_array_equal, native.jit(gradient)(*arguments), found)


def test_two_rollouts_of_different_lengths(counted):
    def both(q, first, second):
        made = motion(q, q, first)
        return made.q.sum() + jnp.mean(motion(made[-1].q, made[-1].qd, second).q)

    gradient = jax.value_and_grad(both, (0, 1, 2))
    for steps in ((50, 20), (20, 50), (3, 100), (100, 3)):
        arguments = (START[0], *map(controls, steps))
        agree(native.jit(gradient)(*arguments), jax.jit(gradient)(*arguments))
    assert counted == ["lowered", "compiled"]
    arguments = (START[0], controls(30), controls(30))
    agree(native.jit(gradient)(*arguments), jax.jit(gradient)(*arguments))


def test_a_loop_of_its_own_length_in_every_step(counted):
    """An inner loop whose length does not change is code; one that does is compiled anew."""

    def relaxed(inner):
        def step(x, u):
            x = jax.lax.fori_loop(0, inner, lambda _, x: 0.9 * x + 0.1 * jnp.sin(x + u), x)
            return x, x

        def run(x, u):
            with native.any_length():
                return jax.lax.scan(step, x, u)[1]

        return run

    for inner, steps in ((3, 40), (3, 7), (5, 40), (5, 9)):
        arguments = (np.float64(0.3), controls(steps)[:, 0])
        agree(native.jit(relaxed(inner))(*arguments), jax.jit(relaxed(inner))(*arguments))
    assert counted == ["lowered", "compiled"] * 2


def test_measured_numbers_in_a_closure_are_data(counted):
    """As the residuals of a fit to a log: other numbers in logs of other lengths are the same code."""
    for steps in (40, 9, 200):
        log = np.random.default_rng(steps).normal(size=(steps + 1, 2))
        f = jax.value_and_grad(lambda q, qd, u, log=log: jnp.mean((motion(q, qd, u).q - log) ** 2))
        arguments = (*START, controls(steps))
        agree(native.jit(f)(*arguments), jax.jit(f)(*arguments))
        starts = np.stack([START[0], START[1]])
        together = native.batch(f, (0, None, None), threads=1)(starts, *arguments[1:])
        agree(together, jax.vmap(f, (0, None, None))(starts, *arguments[1:]))
    assert counted.of("lowered", "compiled", "lowered for one length") == [2, 2, 0]


def test_loops_that_are_not_marked(counted):
    """A long one outside of others, of many equations, is one whose length may change; a short or simple one is not."""

    def many_equations(x, u):
        for _ in range(70):
            x = jnp.sin(x + u) * 1.01
        return x, x

    def loop(body):
        return lambda x, u: jax.lax.scan(body, x, u)[1]

    for steps in (40, 400):
        arguments = (np.float64(0.3), controls(steps)[:, 0])
        for f in (loop(many_equations), loop(lambda x, u: (x + u, x))):
            agree(native.jit(f)(*arguments), jax.jit(f)(*arguments))
    assert counted.of("lowered", "lowered for one length") == [1, 2]


@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
@pytest.mark.parametrize("name", PROGRAMS)
class TestPrograms:
    def test_all_lengths_are_right(self, name, gradient, counted):
        program = PROGRAMS[name]
        f = program.differentiated if gradient else program.function
        for steps in (50, 33, 130, *program.few):
            arguments = drive(steps)
            agree(native.jit(f)(*arguments), jax.jit(f)(*arguments), 1e-9)
        if program.general:
            assert counted == ["lowered", "compiled"]
        else:
            assert counted.of("lowered for one length") == [3]

    def test_nothing_is_lost_in_a_template(self, name, gradient):
        """With its own lengths it is the jaxpr; what nothing depends on is left out."""
        program = PROGRAMS[name]
        f = program.differentiated if gradient else program.function
        for steps in (*program.few, 40):
            traced = jax.make_jaxpr(f)(*drive(steps))
            if (template := general(traced)) is not None:
                left = iter(described(traced))
                missing = [line for line in described(instance(template)) if line not in left]
                assert not missing


def test_a_constant_that_has_the_length_by_chance(counted):
    """What it is taken for does not matter for the result."""
    weights = np.random.default_rng(0).normal(size=(40, 2, 40))

    def f(q, qd, u):
        hidden = jnp.tanh(weights[:, :, 0] @ q)
        made = motion(q + 0.01 * weights[0] @ hidden, qd, u)
        return made.q, jnp.sum(hidden), jnp.mean(hidden), 40.0 * made.qd[-1], made.q / 41.0

    for steps in (40, 41, 39, 20, 80):
        arguments = (*START, controls(steps))
        agree(native.jit(f)(*arguments), jax.jit(f)(*arguments))


def test_a_horizon_of_as_many_steps_as_the_robot_has_joints(counted):
    """Sizes that are the same by chance have nothing to do with each other, in short loops too."""
    model = hs.chain(5, damping=0.1)

    def effort(q, u):
        made = hs.rollout(model, (q, jnp.zeros(5)), u, dt=1e-2, contact=None)
        return jnp.mean(made.q**2) + jnp.sum(made[-1].qd ** 2) + jnp.sum(u**2)

    gradient = jax.value_and_grad(effort, (0, 1))
    for steps in (4, 5, 6, 9, 10):
        arguments = np.linspace(-0.3, 0.4, 5), np.random.default_rng(steps).normal(size=(steps, 5))
        agree(native.jit(gradient)(*arguments), jax.jit(gradient)(*arguments))
    assert counted == ["lowered", "compiled"]


def test_a_parameter_that_was_written_wrongly_is_found(counted, monkeypatch):
    """Then the program is compiled for its own length."""

    def wrong(eqn, *_):
        return {"start_indices": (0, 0), "limit_indices": (Affine.of(0), 2)}

    def f(q, u):
        return states(q, u)[1:]

    monkeypatch.setitem(rewrite._PARAMETERS, "slice", wrong)
    agree(native.jit(f)(*drive(40)), jax.jit(f)(*drive(40)))
    assert counted.of("lowered", "lowered for one length") == [0, 1]


def test_a_quadratic_number_of_numbers_is_compiled_for_each_length(counted):
    def f(q, qd, u):
        angles = motion(q, qd, u).q[:, 0]
        return jnp.sum(jnp.abs(angles[:, None] - angles))

    for steps in (20, 60):
        arguments = (*START, controls(steps))
        agree(native.jit(f)(*arguments), jax.jit(f)(*arguments))
    assert counted.of("compiled") == [2]


def test_inside_of_jax(counted):
    for steps in (30, 80):
        given, fast = controls(steps), native.jit(loss)
        agree(jax.jit(fast)(*START, given), jax.jit(loss)(*START, given))
        agree(jax.grad(fast)(*START, given), jax.grad(loss)(*START, given))
        starts = np.random.default_rng(0).normal(size=(3, 2))
        mapped = [jax.vmap(f, (0, None, None))(starts, START[1], given) for f in (fast, loss)]
        agree(*mapped)
    # The function, its gradient, the function in lanes; and for each length XLA's handlers, which have the same text.
    assert counted.of("lowered", "lowered for one length") == [3, 0]


def test_results_are_written_where_they_are_wanted():
    f = native.jit(motion)
    for steps in (20, 50):
        out = jax.tree.map(np.zeros_like, f(*START, controls(steps)))
        f(*START, controls(steps), out=out)
        jax.tree.map(np.testing.assert_array_equal, out, f(*START, controls(steps)))


def test_without_a_cache_it_is_compiled_once_in_a_process(counted, monkeypatch):
    monkeypatch.setenv("HYBRIDSIM_CACHE", "off")
    kept = [native.jit(motion), native.jit(motion)]
    for f, steps in zip(kept, (20, 50), strict=True):
        agree(f(*START, controls(steps)), motion(*START, controls(steps)))
    assert counted == ["lowered", "compiled"]


PROCESS = """
import sys, jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
import hybridsim as hs
from hybridsim.native import build, compile

counts = {"lowered": 0, "compiled": 0}
lower, compile_now = build.lower, compile._compile
build.lower = lambda program: counts.update(lowered=counts["lowered"] + 1) or lower(program)
compile._compile = lambda *a: counts.update(compiled=counts["compiled"] + 1) or compile_now(*a)
steps, model = int(sys.argv[1]), hs.chain(1)
log = np.cos(np.arange(steps + 1.0))[:, None]

def miss(q, qd):
    return jnp.mean((hs.rollout(model, (q, qd), dt=1e-2, steps=steps, contact=None).q - log) ** 2)

q, qd = np.array([0.3]), np.array([0.1])
wanted = jax.value_and_grad(miss)(q, qd)
for found in (
    hs.native.jit(jax.value_and_grad(miss))(q, qd),
    hs.native.value_and_grad(miss)(q, qd),
    [x[0] for x in hs.native.batch(jax.value_and_grad(miss))(q[None], qd[None])],
):
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-10)
print(counts["lowered"], counts["compiled"])
"""


def test_the_next_process_compiles_nothing_for_another_length(tmp_path):
    environment = {**os.environ, "HYBRIDSIM_CACHE": str(tmp_path)}

    def run(steps: int) -> str:
        command = [sys.executable, "-c", PROCESS, str(steps)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    assert run(40) == "2 2"
    assert run(90) == "0 0"
    assert run(40) == "0 0", "also where the notes of this length say which numbers go with the code"
    assert run(3) == "0 0"
