"""Elementary functions against 50 digits, at their limits, and the same for every number of lanes."""

import importlib

import numpy as np
import pytest
from mpmath import mpf

from hybridsim.native.functions import FUNCTIONS

from .derive_coefficients import derive
from .function_cases import CASES, SPECIAL_PAIRS, closest_to_quarters, errors
from .kernels import count_values, evaluate

ODD = ["sin", "tan", "tanh", "sinh", "asin", "atan", "asinh", "atanh", "cbrt", "erf", "erf_inv"]
SINGLE_SAMPLES = 150
TINY, LARGEST = 5e-324, 1.7976931348623157e308


def check_accuracy(name: str, count: int, seed: int) -> None:
    case = CASES[name]
    for where, samples in case.ranges.items():
        arguments = samples(np.random.default_rng(seed), count)
        with np.errstate(over="ignore"):
            found = evaluate(name, *arguments, lanes=4)
        error = errors(found, case, arguments)
        worst = int(np.argmax(error))
        assert error[worst] < case.bound, f"{name}, {where}: {error[worst]} ulp at {[x[worst] for x in arguments]}"


def test_every_function_has_a_case():
    assert set(CASES) == set(FUNCTIONS)


@pytest.mark.parametrize("name", CASES)
def test_accuracy(name):
    check_accuracy(name, 400, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_accuracy_densely(name):
    check_accuracy(name, 20_000, seed=1)


@pytest.mark.parametrize("name", CASES)
def test_accuracy_of_float32(name):
    case = CASES[name]
    for where, samples in case.ranges.items():
        with np.errstate(over="ignore", under="ignore"):
            arguments = [x.astype(np.float32) for x in samples(np.random.default_rng(0), SINGLE_SAMPLES)]
        inside = np.all([np.isfinite(x) & (x != 0) for x in arguments], axis=0)
        if name in ("asin", "acos", "atanh", "erf_inv"):
            inside &= np.abs(arguments[0]) < 1
        arguments = tuple(x[inside] for x in arguments)
        error = errors(evaluate(name, *arguments, lanes=4), case, arguments)
        worst = int(np.argmax(error))
        assert error[worst] < case.single, f"{name}, {where}: {error[worst]} ulp at {[x[worst] for x in arguments]}"


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_nearest_to_multiples_of_a_quarter_turn(name):
    angles = closest_to_quarters(0, 20)
    error = errors(evaluate(name, angles, lanes=4), CASES[name], (angles,))
    assert error.max() < CASES[name].bound, f"{error.max()} ulp at {angles[np.argmax(error)]}"


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_nearest_to_multiples_of_a_quarter_turn(name):
    """There the C library is asked. It need not be right to the last digit of a result that is zero but for rounding."""
    angles = np.concatenate([closest_to_quarters(low, low + 1) for low in range(20, 1023, 10)])
    angles = np.append(angles, 6381956970095103.0 * 2.0**797)
    found = evaluate(name, angles, lanes=4)
    exact = np.array([float(CASES[name].exact(mpf(x))) for x in angles])
    np.testing.assert_allclose(found, exact, rtol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_lanes_give_the_same_bits(name):
    for samples in CASES[name].ranges.values():
        arguments = samples(np.random.default_rng(2), 1000)
        expected = evaluate(name, *arguments).view(np.int64)
        for lanes in (2, 4):
            np.testing.assert_array_equal(evaluate(name, *arguments, lanes=lanes).view(np.int64), expected)


@pytest.mark.parametrize("name", ODD)
def test_odd_functions_are_odd_to_the_last_bit(name):
    x = np.concatenate([s(np.random.default_rng(3), 1000)[0] for s in CASES[name].ranges.values()])
    np.testing.assert_array_equal(evaluate(name, -x), -evaluate(name, x))


@pytest.mark.parametrize("name", ["cos", "cosh"])
def test_even_functions_are_even_to_the_last_bit(name):
    x = np.concatenate([s(np.random.default_rng(3), 1000)[0] for s in CASES[name].ranges.values()])
    np.testing.assert_array_equal(evaluate(name, -x), evaluate(name, x))


# Limits: each line is arguments and results; zeros have signs.
inf, nan = np.inf, np.nan
KEEPS_ZERO = [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (2.0**-1022, 2.0**-1022)]
LIMITS = {
    "sin": [*KEEPS_ZERO, (inf, nan), (-inf, nan)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (inf, nan), (-inf, nan)],
    "tan": [*KEEPS_ZERO, (inf, nan), (-inf, nan)],
    "exp": [
        (0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (inf, inf), (-inf, 0.0), (709.79, inf), (-745.14, 0.0), (-745.13, TINY),
        (LARGEST, inf), (-LARGEST, 0.0),
    ],
    "exp2": [
        (0.0, 1.0), (10.0, 1024.0), (-1074.0, TINY), (-1022.0, 2.0**-1022), (1023.0, 2.0**1023), (1024.0, inf),
        (-1075.1, 0.0), (inf, inf), (-inf, 0.0),
    ],
    "expm1": [*KEEPS_ZERO, (inf, inf), (-inf, -1.0), (-60.0, -1.0), (710.0, inf), (-LARGEST, -1.0)],
    "log": [
        (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (-1.0, nan), (-inf, nan), (-TINY, nan), (inf, inf),
        (TINY, -744.4400719213812), (LARGEST, 709.782712893384),
    ],
    "log1p": [*KEEPS_ZERO, (-1.0, -inf), (-1.1, nan), (-inf, nan), (inf, inf), (LARGEST, 709.782712893384)],
    "tanh": [*KEEPS_ZERO, (inf, 1.0), (-inf, -1.0), (20.0, 1.0), (LARGEST, 1.0)],
    "sinh": [*KEEPS_ZERO, (inf, inf), (-inf, -inf), (711.0, inf), (LARGEST, inf)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (inf, inf), (-inf, inf), (711.0, inf), (LARGEST, inf)],
    "logistic": [(0.0, 0.5), (-0.0, 0.5), (inf, 1.0), (-inf, 0.0), (40.0, 1.0), (-744.5, TINY), (-746.0, 0.0), (-LARGEST, 0.0)],
    "asin": [*KEEPS_ZERO, (1.0, np.pi / 2), (-1.0, -np.pi / 2), (1.0000000000000002, nan), (-2.0, nan), (inf, nan)],
    "acos": [(1.0, 0.0), (-1.0, np.pi), (0.0, np.pi / 2), (-0.0, np.pi / 2), (1.0000000000000002, nan), (-2.0, nan), (inf, nan)],
    "atan": [*KEEPS_ZERO, (1.0, np.pi / 4), (-1.0, -np.pi / 4), (inf, np.pi / 2), (-inf, -np.pi / 2), (LARGEST, np.pi / 2)],
    "asinh": [*KEEPS_ZERO, (inf, inf), (-inf, -inf), (LARGEST, 710.4758600739439)],
    "acosh": [(1.0, 0.0), (0.9999999999999999, nan), (-1.0, nan), (-inf, nan), (inf, inf), (LARGEST, 710.4758600739439)],
    "atanh": [*KEEPS_ZERO, (1.0, inf), (-1.0, -inf), (1.0000000000000002, nan), (-2.0, nan), (inf, nan)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (27.0, 3.0), (-8.0, -2.0), (2.0**-1074, 2.0**-358), (inf, inf), (-inf, -inf)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (6.0, 1.0), (TINY, TINY)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (inf, 0.0), (-inf, 2.0), (28.0, 0.0), (-7.0, 2.0), (TINY, 1.0)],
    "erf_inv": [(0.0, 0.0), (-0.0, -0.0), (1.0, inf), (-1.0, -inf), (1.0000000000000002, nan), (-2.0, nan), (inf, nan)],
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    x, expected = np.array([*LIMITS[name], (nan, nan)]).T
    found = evaluate(name, x)
    np.testing.assert_allclose(found, expected, rtol=2e-16, atol=0)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("name", LIMITS)
def test_limits_of_float32(name):
    """They are those of float64, rounded."""
    sizes = np.array(
        [0.0, 1e-45, 1e-38, 0.5, 1.0, 2.0, 20.0, 88.8, 89.0, 104.0, 150.0, 1e30, 3.4028235e38, inf], np.float32
    )
    x = np.concatenate([sizes, -sizes, [np.float32(nan)]])
    with np.errstate(over="ignore", under="ignore"):
        expected = evaluate(name, x.astype(np.float64)).astype(np.float32)
    found = evaluate(name, x)
    np.testing.assert_allclose(found, expected, rtol=1.2e-7, atol=1e-45)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


PAIRS = [
    0.0,
    TINY,
    1e-310,
    1e-300,
    1 / 3,
    0.5,
    0.9999999999999999,
    1.0,
    1.0000000000000002,
    1.5,
    2.0,
    2.5,
    3.0,
    709.0,
    1023.0,
]
PAIRS += [1074.0, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 2.0**60, 1e300, 1e308, LARGEST, inf, nan]


@pytest.mark.parametrize("name", SPECIAL_PAIRS)
def test_limits_of_two_arguments(name):
    """All pairs of special numbers. NumPy is no oracle: on some processors its power is wrong in the last digits."""
    values = np.array([*PAIRS, *(-x for x in PAIRS)])
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    found = evaluate(name, x, y)
    tabled = [SPECIAL_PAIRS[name](a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    is_tabled = np.array([value is not None for value in tabled])
    expected = np.array(tabled, float)[is_tabled]
    np.testing.assert_array_equal(found[is_tabled], expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[is_tabled][numbers]), np.signbit(expected[numbers]))
    x, y, found = x[~is_tabled], y[~is_tabled], found[~is_tabled]
    error = errors(found, CASES[name], (x, y))
    worst = int(np.argmax(error))
    assert error[worst] < CASES[name].bound, f"{error[worst]} ulp at {x[worst], y[worst]}"
    is_negative = (x < 0) & (y % 2 == 1) if name == "pow" else x < 0
    np.testing.assert_array_equal(np.signbit(found), is_negative)


def test_sine_and_cosine_share_the_reduction_of_their_argument():
    sine = count_values(FUNCTIONS["sin"])
    both = count_values(lambda s, x: (FUNCTIONS["sin"](s, x), FUNCTIONS["cos"](s, x)))
    assert both <= sine + 4


def test_coefficients_are_those_derived():
    for name, expected in derive().items():
        file, variable = name.split(".")
        module = importlib.import_module(f"hybridsim.native.functions.{file}")
        assert getattr(module, variable) == expected, f"{name} should be {expected}"
