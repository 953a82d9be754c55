"""Defects of known structure must be found, told apart and said in words."""

import numpy as np
import pytest

from hybridsim.identify.identifiability import Identifiability, identifiability
from hybridsim.identify.words import Number


def log(name: str, value: float = 1.0, **more) -> Number:
    return Number(name, value, log=True, unit="kg", **more)


def linear(name: str, value: float = 0.0, size: float = 1.0, unit: str = "m", **more) -> Number:
    return Number(name, value, size, unit, **more)


def slopes(null, seed: int = 0, rows: int = 60, size: float = 100.0) -> np.ndarray:
    """Random ones, of which the given directions are the null space; right to 1e-10 only."""
    rng = np.random.default_rng(seed)
    null = np.atleast_2d(np.asarray(null, float))
    q = np.linalg.qr(null.T)[0]
    S = size * rng.normal(size=(rows, null.shape[1]))
    S -= S @ q @ q.T
    return S * (1 + 1e-10 * rng.normal(size=S.shape))


def sentences(found: Identifiability) -> list[str]:
    return [u.words() for u in found.unidentified]


@pytest.mark.parametrize(
    ("numbers", "null", "words"),
    [
        ([log("a"), log("b"), log("c")], [0, 1, 0], "b has no effect on what was measured"),
        ([log("a"), log("b"), log("c")], [1, -1, 0], "only the product a * b is determined"),
        ([log("a"), log("b"), log("c")], [1, 0, 1], "only the ratio a / c is determined"),
        ([log("a"), log("b"), log("c")], [2, -1, 0], "only the product a * b^2 is determined"),
        ([log("a"), log("b"), log("c")], [0, 2, 3], "only the ratio b^3 / c^2 is determined"),
        ([log("a"), log("b"), log("c")], [1, -1.53, 0], "only a^1.53 * b is determined"),
        ([log("a", 2.0), log("b", 5.0), log("c")], [5, -2, 0], "only the sum a + b is determined"),
        ([linear("a"), linear("b"), linear("c")], [1, -1, 0], "only the sum a + b is determined"),
        ([linear("a"), linear("b"), linear("c")], [0, 1, 1], "only the difference b - c is determined"),
        ([linear("a", size=0.1), linear("b", size=2.0), linear("c")], [2, -0.1, 0], "only the sum a + b is determined"),
        ([linear("a"), linear("b"), linear("c")], [1, -1.53, 0], "only 1.53 a + b is determined"),
        ([linear("a"), linear("b", unit="kg"), linear("c")], [1, 1, 0], "only a - b (in m and kg) is determined"),
        (
            [log("mass", 3.0), linear("com", 0.3, 0.5), linear("c")],
            [1, -0.6, 0],
            "only the product mass * com is determined",
        ),
        (
            [log("a"), log("b"), log("c"), log("d")],
            [1, 1, 0, 1],
            "of a, b and d (3 numbers), the data determine only 2 combinations: the ratio a / d and the ratio b / d",
        ),
        (
            [log("a"), linear("b", 0.0, 0.5), log("c")],
            [1, -0.31, 0],
            "of a and b (2 numbers), the data determine only 1 combination; "
            "nothing measured changes by raising a by 1 % while lowering b by 0.00155 m",
        ),
        (
            [log("a"), log("b"), log("c"), log("d")],
            [[1, -1, 0, 0], [0, 1, -2, 0]],
            "of a, b and c (3 numbers), the data determine only 1 combination: the product a^2 * b^2 * c",
        ),
    ],
)
def test_words_of_known_defects(numbers, null, words):
    for seed in range(3):
        found = identifiability(slopes(null, seed), numbers)
        if "a / d" in words:  # the pivot, hence which of three equivalent pairs is said, may fall on any
            assert found.unidentified[0].names == ("a", "b", "d")
            assert sentences(found)[0].startswith(words.split(":")[0])
            assert sentences(found)[0].count("the ratio") == 2
        else:
            assert sentences(found) == [words]
        assert found.rank == len(numbers) - len(np.atleast_2d(null))
        assert found.condition == np.inf


def test_all_determined_with_the_deviations_of_gauss_and_newton():
    rng = np.random.default_rng(3)
    S = rng.normal(size=(50, 3)) * [10.0, 40.0, 90.0]
    numbers = [log("a", 2.0), linear("b", 1.0, 0.2), linear("c", -3.0, 5.0)]
    found = identifiability(S, numbers)
    expected = np.sqrt(np.diag(np.linalg.inv(S.T @ S))) * [2.0, 0.2, 5.0]
    np.testing.assert_allclose(found.deviation, expected, rtol=1e-10)
    assert found.rank == 3
    assert found.condition == pytest.approx(np.linalg.cond(S))
    assert not found.unidentified
    assert not found.weak
    assert str(found).startswith("all 3 numbers are determined (condition ")
    # The R of its QR factors tells the same.
    np.testing.assert_allclose(identifiability(np.linalg.qr(S)[1], numbers).deviation, expected, rtol=1e-10)


def test_independent_defects_among_ten_are_told_apart():
    numbers = [log(f"x{i}") for i in range(10)]
    null = np.zeros((4, 10))
    null[0, [1, 7]] = 1, -1
    null[1, [2, 3, 8]] = 1, 1, 1
    null[2, 5] = 1
    null[3, [0, 9]] = 1, 2
    for seed in range(5):
        mixed = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0] @ null
        found = identifiability(slopes(mixed, seed), numbers)
        assert found.rank == 6
        assert {u.names for u in found.unidentified} == {("x1", "x7"), ("x2", "x3", "x8"), ("x5",), ("x0", "x9")}
        assert {"only the product x1 * x7 is determined", "only the ratio x0^2 / x9 is determined"} < set(
            sentences(found)
        )
        assert {name for name, is_known in found.determined.items() if is_known} == {"x4", "x6"}
        assert "the data determine only 6 combinations of 10 numbers\n- x5 has no effect" in str(found)


def test_many_numbers_in_one_defect_keep_the_null_space():
    """The sparse directions span what was lost, also where they overlap and sizes differ by a million."""
    rng = np.random.default_rng(8)
    null = np.zeros((5, 16))
    for i in range(5):
        null[i, 3 * i : 3 * i + 4] = rng.normal(size=4)
    scale = 10 ** rng.uniform(-3, 3, 16)
    found = identifiability(slopes(null, 1) * scale, [log(f"link/{'ab'[i // 8]}/x{i}") for i in range(16)])
    (one,) = found.unidentified
    assert found.rank == 11
    assert one.words().startswith(
        "of 16 numbers of link/a and link/b, the data determine only 11 combinations; nothing"
    )
    assert np.count_nonzero(one.directions, axis=1).max() < 16
    directions = one.directions * scale
    projector = null.T @ np.linalg.solve(null @ null.T, null)
    np.testing.assert_allclose(directions @ projector, directions, atol=1e-6 * np.abs(directions).max())
    assert np.linalg.matrix_rank(one.directions / np.linalg.norm(one.directions, axis=1, keepdims=True)) == 5


def test_duplicates():
    S = np.random.default_rng(0).normal(size=(40, 3))
    found = identifiability(1e3 * S[:, [0, 1, 0, 2, 0]], [linear(name) for name in "abcde"])
    assert sentences(found) == ["of a, c and e (3 numbers), the data determine only 1 combination: the sum a + c + e"]
    assert np.array_equal(np.isinf(found.deviation), [True, False, True, False, True])


def test_a_prior_removes_a_defect():
    S, b = slopes([1, -1, 0]), log("b", 2.0)
    assert identifiability(S, [log("a"), b, log("c")]).rank == 2
    found = identifiability(S, [log("a", prior=0.1), b, log("c")])
    assert found.rank == 3
    assert not found.unidentified
    # a is as sure as its prior, and b, of which the product tells, relatively as sure as a.
    np.testing.assert_allclose(found.deviation[:2], [0.1, 0.2], rtol=2e-2)
    assert [w.number.name for w in found.weak] == ["a"]
    assert "hardly less than by its prior alone" in str(found)


def test_weak_numbers():
    S = np.diag([1e3, 0.5, 0.1, 20.0])
    numbers = [log("a"), log("b", 3.0), linear("c", 2.0, 2.0), log("d", 1.0, lower=0.95, upper=1.05)]
    found = identifiability(S, numbers)
    assert found.rank == 4
    np.testing.assert_allclose(found.deviation, [1e-3, 6.0, 20.0, 0.05])
    assert [w.words() for w in found.weak] == [
        "b = 3 kg is uncertain by a factor of 7.39, which says little",
        "c = 2 m is uncertain by 20 m, beside an ordinary size of 2",
        "d = 1 kg is uncertain by a factor of 1.05, much of the range from 0.95 to 1.05",
    ]


def test_nothing_measured_and_next_to_nothing():
    """Without any effect, and with one just above what counts as none."""
    found = identifiability(np.zeros((3, 2)), [log("a"), linear("b")])
    assert found.rank == 0
    assert np.all(np.isinf(found.deviation))
    assert (
        str(found)
        == "the data determine only 0 combinations of 2 numbers\n- a and b have no effect on what was measured"
    )
    found = identifiability(np.diag([2e-4, 1.0]), [log("a"), linear("b")])
    assert "a = 1 kg is uncertain by 2171 orders of magnitude, which says little" in str(found)


def test_weak_together():
    """A product that is known well, and its factors hardly."""
    S = np.array([[100.0, 100.0, 0.0], [0.02, -0.02, 0.0], [0.0, 0.0, 100.0]])
    found = identifiability(S, [log("a"), log("b"), log("c")])
    assert not found.unidentified
    assert [w.number.name for w in found.weak] == ["a", "b"]
    assert str(found).endswith("- roughly, only the product a * b is determined")
    hopeless = identifiability(S, [log("a"), log("b"), log("c")], hopeless=10.0)
    assert sentences(hopeless) == ["only the product a * b is determined"]


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e6])
def test_rounding_is_not_taken_for_data(size):
    """However loud the data: a null column or direction with errors of 1e-10 stays null."""
    rng = np.random.default_rng(4)
    S = slopes([1, -1, 0, 0], size=size)
    S[:, 2] = 1e-10 * size * rng.normal(size=len(S)) / 1e3
    found = identifiability(S, [log(name) for name in "abcd"])
    assert sorted(sentences(found)) == ["c has no effect on what was measured", "only the product a * b is determined"]


def test_search_coordinates_that_mix_numbers():
    """Words are about the numbers, whatever coordinates the search uses."""
    rng = np.random.default_rng(5)
    numbers = [log("mass", 2.0), linear("com", 0.1, 0.1), linear("inertia", 0.03, 0.03, "kg m^2"), log("damping", 0.4)]
    steps = np.array([n.step for n in numbers])
    physical = np.eye(4)
    physical[:3, :3] = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    S = slopes([1, -1, 0, 0]) / steps @ physical
    found = identifiability(S, numbers, physical)
    assert sentences(found) == ["only the product mass * com is determined"]
    assert np.all(np.isfinite(found.deviation[2:]))


def pendulum(parameters: np.ndarray) -> np.ndarray:
    """Angles of (I + m r^2) qdd = -m g r sin q - b qd by Runge and Kutta, for complex numbers too."""
    m, inertia, r, b = parameters
    h, state, angles = 0.02, np.array([1.2, 0.0], dtype=parameters.dtype), []

    def rate(x: np.ndarray) -> np.ndarray:
        return np.array([x[1], (-m * 9.81 * r * np.sin(x[0]) - b * x[1]) / (inertia + m * r**2)])

    for _ in range(200):
        k1 = rate(state)
        k2 = rate(state + h / 2 * k1)
        k3 = rate(state + h / 2 * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        angles.append(state[0])
    return np.array(angles)


def pendulum_slopes(values: np.ndarray, noise: float = 1e-3) -> np.ndarray:
    """With respect to logarithms, by a complex step."""
    return np.stack([np.imag(pendulum(values * np.exp(1e-30j * e))) / 1e-30 / noise for e in np.eye(4)], axis=1)


VALUES = np.array([0.7, 0.02, 0.4, 0.05])


def test_pendulum_from_angles():
    """Only m r / (I + m r^2) and b / (I + m r^2) show."""
    m, inertia, r, _ = VALUES
    numbers = [log(name, value) for name, value in zip(("m", "I", "r", "b"), VALUES, strict=True)]
    found = identifiability(pendulum_slopes(VALUES), numbers)
    (one,) = found.unidentified
    assert found.rank == 2
    assert one.names == ("m", "I", "r", "b")
    # Slopes of the logarithms of the two.
    total = inertia + m * r**2
    known = np.array([[1, 0, 1, 0], [0, 0, 0, 1]]) - np.array([m * r**2, inertia, 2 * m * r**2, 0]) / total
    np.testing.assert_allclose(known @ one.directions.T, 0, atol=1e-6)
    assert max(np.count_nonzero(one.directions, axis=1)) == 3
    assert one.words().startswith(
        "of m, I, r and b (4 numbers), the data determine only 2 combinations; nothing measured"
    )
    assert "multiplying m, I and b by the same factor" in one.words()


def test_point_pendulum_from_angles():
    """Without inertia and damping the length is known and the mass is not; with both lengths and gravity their ratio."""
    values = np.array([0.7, 1e-12, 0.4, 1e-12])
    S = pendulum_slopes(values)
    found = identifiability(S[:, [0, 2]], [log("mass", 0.7), log("length", 0.4)])
    assert sentences(found) == ["mass has no effect on what was measured"]
    gravity = -S[:, 2]
    found = identifiability(np.stack([S[:, 2], gravity], axis=1), [log("length", 0.4), log("gravity", 9.81)])
    assert sentences(found) == ["only the ratio length / gravity is determined"]


def arm_regressor(gravity: float, length: float, samples: int = 40) -> np.ndarray:
    """Torques of a planar arm of two links are linear in (m, h_x, h_y, I) of each: mass, first moments, inertia at its joint.

    The plane is that of complex numbers. A link whose joint accelerates by a needs the force m a + (i alpha - w^2) h and the
    moment I alpha + Im(conj(h) a).
    """
    rng = np.random.default_rng(6)
    rows = []
    for q1, q2, w1, w2, e1, e2 in rng.normal(size=(samples, 6)):
        turn1, turn2 = np.exp(1j * q1), np.exp(1j * (q1 + q2))
        a1 = 1j * gravity
        swing = (1j * e1 - w1**2) * length * turn1
        torques = np.zeros((8, 2))
        for k, (m, hx, hy, inertia) in enumerate(np.eye(4)):
            h = (hx + 1j * hy) * turn1
            torques[k, 0] = inertia * e1 + (np.conj(h) * a1).imag
            h, w, e, a2 = (hx + 1j * hy) * turn2, w1 + w2, e1 + e2, a1 + swing
            force = m * a2 + (1j * e - w**2) * h
            moment = inertia * e + (np.conj(h) * a2).imag
            torques[4 + k] = moment + (np.conj(length * turn1) * force).imag, moment
        rows.append(torques.T)
    return np.concatenate(rows)


ARM = [
    linear(f"{link}.{x}", unit=unit)
    for link in "12"
    for x, unit in [("m", "kg"), ("hx", "kg m"), ("hy", "kg m"), ("I", "kg m^2")]
]


def test_base_parameters_of_a_planar_arm():
    """Six with gravity: the first mass does nothing, and the second joins h_x and I of the first link."""
    length = 0.6
    found = identifiability(1e3 * arm_regressor(9.81, length), ARM)
    assert found.rank == 6
    alone, together = sorted(found.unidentified, key=lambda u: len(u.members))
    assert alone.names == ("1.m",)
    assert together.names == ("1.hx", "1.I", "2.m")
    v = together.directions[0]
    np.testing.assert_allclose(v / v[2], [-length, -(length**2), 1.0], rtol=1e-8)
    assert "(3 numbers), the data determine only 2 combinations: " in together.words()


def test_base_parameters_of_a_planar_arm_that_lies_flat():
    """Four without gravity: I of the first with the second mass, and three of the second link."""
    found = identifiability(1e3 * arm_regressor(0.0, 0.5), ARM)
    assert found.rank == 4
    assert "- 1.m, 1.hx and 1.hy have no effect on what was measured" in str(found)
    assert "- only 4 1.I + 2.m (in kg m^2 and kg) is determined" in str(found)


def test_refusals():
    with pytest.raises(ValueError, match="S has 2 columns for 1 numbers"):
        identifiability(np.ones((3, 2)), [log("a")])
    with pytest.raises(ValueError, match="respect to b are not finite"):
        identifiability(np.array([[1.0, np.nan]]), [log("a"), log("b")])
    with pytest.raises(ValueError, match=r"a is -1.0, which has no logarithm"):
        log("a", -1.0)
