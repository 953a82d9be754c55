"""Search by populations on functions with many local minima, whose least value is known."""

import builtins

import numpy as np
import pytest

from hybridsim.identify.basin_hopping import Ended
from hybridsim.identify.executors import processes, threads
from hybridsim.identify.population import ALGORITHMS, Evolved, population

from .test_basin_hopping import Downhill, ackley, box, rastrigin

pytest.importorskip("pygmo", reason="needs hybridsim[global]")

BOX = box(-5.12, 5.12, 3)
HILLS = Downhill(rastrigin, -5.12, 5.12)
FAR = np.array([4.2, -3.1, 2.2])


def same(a: Evolved, b: Evolved) -> bool:
    return (
        all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("z", "costs", "bests"))
        and np.array_equal(a.best.z, b.best.z)
        and a.best.cost == b.best.cost
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_finds_what_a_local_search_does_not(algorithm: str):
    lower, upper = box(-20, 30, 2)
    start = np.array([14.2, -11.1])
    assert Downhill(ackley, -20.0, 30.0)(start).cost > 10
    found = population(
        lower, upper, value_and_gradient=ackley, start=start, algorithm=algorithm, individuals=20, target=1e-6
    )
    assert found.done == "target reached"
    assert found.best.cost < 1e-6
    assert found.best.z == pytest.approx(np.zeros(2), abs=1e-6)
    assert np.all((found.z >= lower) & (found.z <= upper))


def test_a_population_of_local_optimisers_finds_it_too():
    bounds, far = box(-5.12, 5.12, 2), FAR[:2]
    assert HILLS(far).cost > 1
    found = population(*bounds, local=HILLS, start=far, islands=2, individuals=16, generations=3, target=1e-6)
    assert found.best.cost < 1e-6
    # An individual is where a search starts; its cost is where it ends.
    assert HILLS(found.z[1, 3]).cost == found.costs[1, 3]
    assert HILLS(found.best.extra["start"]).cost == found.best.cost


def test_lbfgs_makes_the_end_exact():
    valley = np.array([0.3, -0.7, 1.1])
    found = population(
        *BOX,
        value_and_gradient=lambda x: (
            float(np.sum((x - valley) ** 4 + (x - valley) ** 2)),
            4 * (x - valley) ** 3 + 2 * (x - valley),
        ),
        islands=1,
        rounds=1,
        generations=1,
    )
    assert found.best.z == pytest.approx(valley, abs=1e-8)
    assert found.best.cost == found.costs.min()


def test_the_given_starts_are_in_the_first_population():
    stay = {"local": lambda z: Ended(z, float(np.sum(z**2))), "islands": 2, "rounds": 1, "generations": 1}
    found = population(*BOX, start=[np.zeros(3), np.full(3, 5.0)], **stay)
    assert found.best.cost == 0
    assert np.array_equal(found.best.z, np.zeros(3))
    assert np.any(np.all(found.z[0] == 0, axis=1))


def test_the_best_moves_to_the_next_island():
    stay = {"local": lambda z: Ended(z, float(np.sum(z**2))), "islands": 3, "rounds": 1, "generations": 1}
    found = population(*BOX, start=np.zeros(3), **stay)
    holds = [bool(np.any(np.all(island == 0, axis=1))) for island in found.z]
    assert holds == [True, True, False]


def test_a_seed_gives_the_same_on_any_number_of_threads_and_the_best_never_gets_worse():
    runs = []
    for n in (1, 3):
        with threads(n) as executor:
            runs.append(population(*BOX, value_and_gradient=rastrigin, islands=3, rounds=4, executor=executor, seed=5))
    assert same(*runs)
    assert np.all(np.diff(runs[0].bests) <= 0)
    assert runs[0].bests[-1] == runs[0].best.cost
    assert not same(runs[0], population(*BOX, value_and_gradient=rastrigin, islands=3, rounds=4, seed=6))


@pytest.mark.slow
def test_a_seed_gives_the_same_on_processes():
    options = {"value_and_gradient": rastrigin, "local": HILLS, "islands": 3, "rounds": 3}
    with processes(2) as executor:
        spread_out = population(*BOX, **options, executor=executor)
    assert same(spread_out, population(*BOX, **options))


def test_resumed_it_is_as_if_never_interrupted():
    states: list[Evolved] = []
    options = {"value_and_gradient": rastrigin, "islands": 2, "rounds": 4}
    whole = population(*BOX, **options, seen=states.append)
    assert [len(state.bests) for state in states] == [1, 2, 3, 4]
    assert all(same(whole, population(*BOX, **options, resume=state)) for state in states)


def test_ctrl_c_returns_the_last_complete_round():
    def interrupt(state: Evolved) -> None:
        if len(state.bests) == 2:
            raise KeyboardInterrupt

    options = {"value_and_gradient": rastrigin, "islands": 2, "rounds": 4}
    part = population(*BOX, **options, seen=interrupt)
    assert part.stopped
    assert len(part.bests) == 2
    assert same(population(*BOX, **options), population(*BOX, **options, resume=part))


def test_the_time_limit_ends_it_after_a_round(clock):
    def judged(z: np.ndarray) -> Ended:
        return Ended(z, float(np.sum(z**2)))

    found = population(
        *BOX, local=judged, islands=1, generations=1, rounds=500, time_limit=2.5, seen=lambda _: clock.advance(1.0)
    )
    assert found.done == "out of time"
    assert len(found.bests) == 3


def test_where_nothing_is_finite_is_infinitely_bad():
    def half(x: np.ndarray) -> tuple[float, np.ndarray]:
        if x[1] < -2:
            raise FloatingPointError("not finite")
        return (np.nan, np.full(3, np.nan)) if x[0] > 0.5 else rastrigin(x)

    found = population(*BOX, value_and_gradient=half, islands=2, rounds=1, generations=1)
    bad = (found.z[..., 0] > 0.5) | (found.z[..., 1] < -2)
    assert np.array_equal(np.isinf(found.costs), bad)
    assert 0 < bad.sum() < bad.size
    assert population(*BOX, value_and_gradient=half, target=1e-6).best.cost < 1e-6
    with pytest.raises(FloatingPointError, match="no individual has a finite cost"):
        population(*BOX, value_and_gradient=lambda x: (np.inf, x), islands=1, rounds=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"islands": 0}, "islands is 0; give at least 1"),
        ({"individuals": 6}, "individuals is 6; give at least 7"),
        ({"seed": -1}, "seed is -1; give at least 0"),
        ({"generations": 0}, "generations is 0; it has to be positive"),
        ({"rounds": 0}, "rounds is 0; it has to be positive"),
        ({"time_limit": -1.0}, "time_limit is -1.0"),
        ({"algorithm": "magic"}, "there is no algorithm 'magic'; there are sade, "),
        ({"local": None}, "nothing judges an individual; give value_and_gradient, local, or both"),
        ({"start": np.ones(2)}, r"start has the shape \(1, 2\); give up to 50 vectors of 3 numbers"),
        ({"start": np.full(3, 9.0)}, "is not between the bounds"),
        ({"upper": np.array([1.0, np.inf, 1.0])}, "bounds of parameter 1 are -5.12 and inf; a population needs finite"),
    ],
)
def test_bad_options_are_refused(options, message):
    upper = options.pop("upper", BOX[1])
    with pytest.raises(ValueError, match=message):
        population(BOX[0], upper, **{"local": HILLS, **options})


def test_a_state_of_another_shape_is_refused():
    other = population(*BOX, local=HILLS, islands=1, rounds=1, generations=1)
    with pytest.raises(ValueError, match=r"resume is of shape \(1, 10, 3\), not \(5, 10, 3\)"):
        population(*BOX, local=HILLS, resume=other)


def test_without_pygmo_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def without(name: str, *args, **kwargs):
        if name == "pygmo":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"needs pygmo: pip install hybridsim\[global\]"):
        population(*BOX, local=HILLS)
