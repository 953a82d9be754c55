"""Basin hopping on functions with many local minima, whose least value is known."""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from hybridsim.identify.basin_hopping import Ended, Hopped, basin_hopping
from hybridsim.identify.executors import as_they_end, processes, threads


def rastrigin(x: np.ndarray) -> tuple[float, np.ndarray]:
    """A minimum near each point of whole numbers; the least is 0 at 0."""
    value = 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))
    return float(value), 2 * x + 20 * np.pi * np.sin(2 * np.pi * x)


def ackley(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Flat far away, with a minimum near each point of whole numbers; the least is 0 at 0."""
    n, radius = len(x), max(float(np.sqrt(np.mean(x**2))), 1e-300)
    far, near = 20 * np.exp(-0.2 * radius), np.exp(np.mean(np.cos(2 * np.pi * x)))
    slope = far * 0.2 * x / (n * radius) + near * 2 * np.pi * np.sin(2 * np.pi * x) / n
    return float(20 + np.e - far - near), slope


def double_well(x: np.ndarray) -> tuple[float, np.ndarray]:
    """(x^2 - 1)^2 + x / 2: the deeper minimum is the left one."""
    return float(np.sum((x**2 - 1) ** 2 + x / 2)), 4 * x * (x**2 - 1) + 0.5


@dataclass(frozen=True)
class Downhill:
    """L-BFGS-B between bounds."""

    function: object
    lower: float
    upper: float

    def __call__(self, z: np.ndarray) -> Ended:
        bounds = [(self.lower, self.upper)] * len(z)
        found = minimize(self.function, z, jac=True, bounds=bounds, method="L-BFGS-B")  # pyright: ignore
        return Ended(found.x, float(found.fun), {"start": z})


def box(lower: float, upper: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full(n, float(lower)), np.full(n, float(upper))


def same(a: Hopped, b: Hopped) -> bool:
    arrays = all(
        np.array_equal(getattr(a, field.name), getattr(b, field.name))
        for field in fields(Hopped)
        if field.name not in ("best", "done", "stopped")
    )
    extras = np.array_equal(a.best.extra["start"], b.best.extra["start"])
    return arrays and extras and np.array_equal(a.best.z, b.best.z) and a.best.cost == b.best.cost


HILLS = Downhill(rastrigin, -5.12, 5.12)
FAR = np.array([4.2, -3.1])
BOX = box(-5.12, 5.12, 2)


@pytest.mark.parametrize(
    ("function", "start", "bound", "least"),
    [(rastrigin, [4.2, -3.1], 5.12, 0.0), (ackley, [14.2, -11.1], 20.0, 0.0), (double_well, [0.95], 2.0, None)],
)
def test_hopping_finds_what_a_local_search_does_not(function, start, bound, least):
    local = Downhill(function, -bound, bound)
    if least is None:  # the left root of the slope 4x^3 - 4x + 1/2
        least = double_well(np.array([min(np.roots([4, 0, -4, 0.5]).real)]))[0]
    assert local(np.array(start)).cost > least + 0.9
    found = basin_hopping(
        local, np.array(start), *box(-bound, bound, len(start)), rounds=30, workers=16, target=least + 1e-6
    )
    assert found.best.cost == pytest.approx(least, abs=1e-6)
    assert found.done == "target reached"
    assert len(found.bests) < 30


def test_without_bounds_it_hops_by_units_of_the_parameters():
    local = Downhill(double_well, -np.inf, np.inf)
    free = box(-np.inf, np.inf, 1)
    found = basin_hopping(local, np.array([0.95]), *free, spread=1.0, rounds=10)
    assert found.best.z[0] == pytest.approx(-1.057453, abs=1e-5)
    assert 0.3 < np.std(found.starts[found.round == 1] - found.best_before(1)) < 2.0


def test_the_best_never_gets_worse_and_is_the_least_of_all():
    found = basin_hopping(HILLS, FAR, *BOX, rounds=6, workers=4)
    assert found.bests.shape == (6,)
    assert np.all(np.diff(found.bests) <= 0)
    assert found.bests[0] > found.bests[-1] == found.costs.min() == found.best.cost
    assert np.array_equal(found.best.extra["start"], found.starts[np.argmin(found.costs)])


def test_starts_are_the_given_ones_then_anywhere_then_around_the_best_with_a_fading_spread():
    quiet = Downhill(lambda x: (float(np.sum(x**2)), 2 * x), 0.0, 8.0)
    given = [np.array([1.0, 2.0, 8.0]), np.array([0.0, 4.0, 5.0])]
    bounds = box(0.0, 8.0, 3)
    found = basin_hopping(quiet, given, *bounds, rounds=17, workers=60, spread=0.1, fading=0.5)
    first = found.starts[found.round == 0]
    assert np.array_equal(first[:2], given)
    assert np.std(first[2:]) == pytest.approx(8 / np.sqrt(12), rel=0.1)  # of a uniform distribution
    assert np.all(found.starts >= bounds[0])
    assert np.all(found.starts <= bounds[1])
    assert not np.any(found.starts[found.round > 0] == bounds[0])  # cut off, not heaped up at the bound
    # The best is at the bound 0, so that half of the normal distribution is left: its mean square is sigma^2.
    sigma = [float(np.sqrt(np.mean(found.starts[found.round == r] ** 2))) for r in (1, 4, 16)]
    assert sigma == pytest.approx([0.8, 0.4, 0.2], rel=0.15)


def test_a_seed_gives_the_same_on_any_number_of_threads():
    runs = []
    for n in (1, 3):
        with threads(n) as executor:
            runs.append(basin_hopping(HILLS, FAR, *BOX, rounds=3, workers=4, executor=executor, seed=7))
    assert same(*runs)
    assert not np.array_equal(runs[0].starts, basin_hopping(HILLS, FAR, *BOX, rounds=3, workers=4, seed=8).starts)


@pytest.mark.slow
def test_a_seed_gives_the_same_on_processes():
    with processes(2) as executor:
        spread_out = basin_hopping(HILLS, FAR, *BOX, rounds=3, workers=4, executor=executor)
    assert same(spread_out, basin_hopping(HILLS, FAR, *BOX, rounds=3, workers=4))


def test_resumed_it_is_as_if_never_interrupted():
    states: list[Hopped] = []
    whole = basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4, seen=states.append)
    assert [len(state.costs) for state in states] == [4, 8, 12, 16]
    assert all(same(whole, basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4, resume=state)) for state in states)
    again = basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4, resume=whole)
    assert again.done == "all rounds done"
    assert len(again.costs) == 16


def test_it_goes_on_from_a_file_of_arrays(tmp_path: Path):
    half = basin_hopping(HILLS, FAR, *BOX, rounds=2, workers=4)
    names = ("round", "place", "starts", "ends", "costs")
    best = {"z": half.best.z, "cost": half.best.cost, "extra": half.best.extra["start"]}
    np.savez(tmp_path / "half.npz", **{name: getattr(half, name) for name in names}, **best)
    with np.load(tmp_path / "half.npz") as file:
        ended = Ended(file["z"], float(file["cost"]), {"start": file["extra"]})
        read = Hopped(ended, **{name: file[name] for name in names})
    whole = basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4)
    assert same(whole, basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4, resume=read))


def test_ctrl_c_returns_what_there_is_even_within_a_round(monkeypatch):
    """Raised where it is while results are waited for; a real signal is sent in test_killed."""
    ended = []

    def interrupted(*args, **options):
        for result in as_they_end(*args, **options):
            if len(ended) == 6:
                raise KeyboardInterrupt
            ended.append(result)
            yield result

    monkeypatch.setattr("hybridsim.identify.basin_hopping.as_they_end", interrupted)
    part = basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4)
    monkeypatch.undo()
    assert part.stopped
    assert part.done == "stopped by Ctrl-C"
    assert len(part.costs) == 6
    whole = basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4)
    resumed = basin_hopping(HILLS, FAR, *BOX, rounds=4, workers=4, resume=part)
    assert same(whole, resumed)
    assert not resumed.stopped


def test_the_time_limit_ends_it_within_a_round(clock):
    def slow(z: np.ndarray) -> Ended:
        clock.advance(1.0)
        return HILLS(z)

    with threads(1) as executor:
        part = basin_hopping(slow, FAR, *BOX, rounds=50, workers=10, executor=executor, time_limit=3.5)
    assert part.done == "out of time"
    assert len(part.costs) == 4
    assert not part.stopped
    whole = basin_hopping(HILLS, FAR, *BOX, rounds=2, workers=10)
    assert same(whole, basin_hopping(HILLS, FAR, *BOX, rounds=2, workers=10, resume=part))


def test_patience_ends_it_where_nothing_is_gained():
    bowl = Downhill(lambda x: (1 + float(np.sum(x**2)), 2 * x), -5.0, 5.0)
    found = basin_hopping(bowl, FAR, *box(-5, 5, 2), rounds=50, workers=2, patience=3)
    assert found.done == "no gain in 3 rounds"
    assert len(found.bests) == 4


def test_searches_that_cannot_begin_count_as_infinitely_bad():
    def picky(z: np.ndarray) -> Ended:
        if z[0] > 0:
            raise FloatingPointError("not finite here")
        return Ended(z, np.nan) if z[1] > 0 else HILLS(z)

    found = basin_hopping(picky, FAR, *BOX, rounds=6, workers=12)
    bad = (found.starts[:, 0] > 0) | (found.starts[:, 1] > 0)
    assert np.array_equal(np.isinf(found.costs), bad)
    assert 0 < bad.sum() < len(bad)
    assert np.isfinite(found.best.cost)


def test_no_finite_cost_anywhere_is_an_error():
    def nowhere(z: np.ndarray) -> Ended:
        raise FloatingPointError("not finite")

    with pytest.raises(FloatingPointError, match=r"none of 6 starts has a finite cost; look at the data"):
        basin_hopping(nowhere, FAR, *BOX, rounds=2, workers=3)


def test_a_local_search_that_leaves_the_bounds_is_found_out():
    with pytest.raises(ValueError, match=r"ended at \[9. 9.\], outside of the bounds"):
        basin_hopping(lambda z: Ended(np.array([9.0, 9.0]), 0.0), FAR, *BOX)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spread": 0.0}, "spread is 0.0; give a positive number"),
        ({"spread": np.ones(3)}, "one for each of 2 parameters"),
        ({"fading": -1.0}, "fading is -1.0; give 0"),
        ({"rounds": 0}, "rounds is 0; it has to be positive"),
        ({"workers": 0}, "workers is 0; at least 1"),
        ({"time_limit": 0.0}, "time_limit is 0.0; it has to be positive"),
        ({"patience": 0}, "patience is 0; it has to be positive"),
        ({"seed": -1}, "seed is -1"),
        ({"start": np.ones(3)}, r"start has the shape \(1, 3\); give one or several vectors of 2 numbers"),
        ({"start": np.array([0.0, 6.0])}, "start 0 has parameter 1 at 6.0, not between -5.12 and 5.12"),
        ({"start": np.array([0.0, np.nan])}, "start 0 has parameter 1 at nan"),
        ({"lower": np.array([0.0, 6.0])}, "bounds of parameter 1 are 6.0 and 5.12; the lower one comes first"),
    ],
)
def test_bad_options_are_refused(options, message):
    start, lower = options.pop("start", FAR), options.pop("lower", BOX[0])
    with pytest.raises(ValueError, match=message):
        basin_hopping(HILLS, start, lower, BOX[1], **options)


def test_a_state_of_another_problem_is_refused():
    other = basin_hopping(Downhill(double_well, -2.0, 2.0), np.array([1.2]), *box(-2, 2, 1), rounds=1)
    with pytest.raises(ValueError, match="resume is of 1 parameters, but there are 2"):
        basin_hopping(HILLS, FAR, *BOX, resume=other)
