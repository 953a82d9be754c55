"""The comparison of native code with XLA is worth believing: what is excused is excused for its reason, and mistakes are found."""

from functools import partial
from random import Random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, settings

from hybridsim.native import scalars
from hybridsim.native.arrays import Small
from hybridsim.native.rules import RULES
from hybridsim.native.scalars import Scalars

from .agreement import agree
from .disturbance import contracted, multiplied, oracle, summed, wrong
from .program_strategy import Case, cases
from .programs import Program, Step


def special_case(f) -> Case:
    """f of numbers that are not finite."""
    spec = jax.ShapeDtypeStruct((3,), np.dtype("float64"))
    program = Program((spec,), (Step("f", f, (0,), (spec,)),), (1,))
    x = np.array([[1.0, np.nan, np.inf], [0.0, -np.inf, np.nan], [1.0, 2.0, 3.0]])
    return Case(program, "plain", (x,), (0,), 2, True)


def test_zero_products_may_differ_and_nothing_else(monkeypatch):
    agree(special_case(lambda x: x * np.array([0.0, 0.0, 2.0])))
    agree(special_case(lambda x: jnp.where(jnp.isnan(x * 0.0), 1.0, 0.0)))
    agree(special_case(lambda x: x - x))
    sub = Scalars.sub
    monkeypatch.setattr(Scalars, "sub", lambda s, a, b: s.const(0, s.g.types[a]) if a == b else sub(s, a, b))
    for hides_nan in (lambda x: x - x, lambda x: (x - x) + x * np.array([1.0, 0.0, 1.0])):
        with pytest.raises(AssertionError, match="is not"):
            agree(special_case(hides_nan))


def test_a_zero_that_is_known_makes_the_same_as_one_that_is_not(monkeypatch):
    def f(x):
        return jnp.cos(x * 0.0) + x

    agree(special_case(lambda x: jnp.cos(x * 0.0)))
    agree(special_case(f))
    monkeypatch.setitem(scalars._NUMPY, "cos", np.sin)
    for g in (f, lambda x: jnp.cos(x * 0.0)):
        with pytest.raises(AssertionError, match="with zeros that the compiler does not know"):
            agree(special_case(g))


def test_subnormal_numbers_excuse_nothing_else(monkeypatch):
    """As one operation more after each hides the pattern that this mistake needs."""

    def f(x):
        return -(x - 3.0)

    agree(special_case(f))
    neg = Scalars.neg
    monkeypatch.setattr(Scalars, "neg", lambda s, a: a if s.g.ops[a] == "sub" else neg(s, a))
    with pytest.raises(AssertionError, match="is not"):
        agree(special_case(f))


@pytest.mark.parametrize(("large", "error"), [(1e4, 1e-9), (1e9, 1e-4), (1e13, 1.0)])
def test_how_much_an_ill_conditioned_result_may_differ(large, error):
    """In proportion to its condition: no less than rounding makes of it, and not much more."""
    spec = jax.ShapeDtypeStruct((20,), np.dtype("float64"))
    steps = (Step("add", lambda x: x + large, (0,), (spec,)), Step("subtract", lambda x: x - large, (1,), (spec,)))
    x = np.random.default_rng(0).uniform(0.1, 1.0, size=20)
    (exact,), (sensitive,) = oracle(Program((spec,), steps, (2,)), 1e-12)(x)
    assert not wrong(x, exact, sensitive, 1e-12).any()
    assert wrong(x + error, exact, sensitive, 1e-12).all()


@pytest.mark.parametrize(
    ("f", "known", "unknown"),
    [
        (
            partial(summed, jnp.sum),
            ([1e300, -1e300, 1.0], [1e308, 1e308, 1.0], [np.inf, -1.0, 2.0]),
            ([1e308, 1e308, -1.0],),
        ),
        (
            partial(multiplied, jnp.prod),
            ([0.0, 1e300, 2.0], [1e200, 1e200, 1.0], [np.inf, 0.5, 2.0]),
            ([0.0, 1e200, 1e200],),
        ),
        (partial(multiplied, jnp.prod), ([1e-200, 1e-200, 0.5], [1e-300, 1e300, 2.0]), ([1e-200, 1e-200, 1e300],)),
        (partial(contracted, jnp.dot, np.ones(3)), ([1e300, -1e300, 0.0],), ([1e308, 1e308, -1e308],)),
    ],
)
def test_what_depends_on_the_order_of_operations(f, known, unknown):
    for x in known:
        assert np.isfinite(oracle(f, 1e-12)(np.array(x))[1]).all()
    for x in unknown:
        assert np.isinf(oracle(f, 1e-12)(np.array(x))[1]).all()


def first_number_last(low, eqn, x):
    """Slices of small arrays, of which each number is where the next one should be."""
    return [Small(np.roll(y.ids, 1), y.type) if isinstance(y, Small) else y for y in RIGHT["slice"](low, eqn, x)]


RIGHT = dict(RULES)
WRONG = {
    "sin": RULES["cos"],
    "min": RULES["max"],
    "lt": RULES["le"],
    "rev": lambda low, eqn, x: [x],
    "slice": first_number_last,
    "reduce_sum": RULES["reduce_prod"],
}


@pytest.mark.slow
@pytest.mark.parametrize("primitive", WRONG)
def test_random_programs_find_a_wrong_rule(primitive, monkeypatch):
    """Among 50 of them, always the same."""
    monkeypatch.setitem(RULES, primitive, WRONG[primitive])

    def disagrees(case: Case) -> bool:
        try:
            agree(case)
        except AssertionError:
            return True
        return False

    few = settings(
        max_examples=50, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None
    )
    find(cases(), disagrees, settings=few, random=Random(1))
