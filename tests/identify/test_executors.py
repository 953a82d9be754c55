"""Executors: the same results in the same order on all of them, and after the loss of a worker."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from threading import Event

import jax.numpy as jnp
import pytest

from hybridsim.identify.executors import Processes, as_they_end, processes, run_all, threads


@pytest.fixture(scope="module")
def pool() -> Iterator[Processes]:
    with processes(2) as made:
        yield made


def slow_square(x: int) -> int:
    """Earlier tasks end later."""
    time.sleep(0.02 * (4 - x))
    return x * x


def slow_half_second(x: int) -> int:
    time.sleep(0.5)
    return x


def dies_once(marks: Path, x: int) -> int:
    """Task 2 takes its process along the first time."""
    mark = marks / "died"
    if x == 2 and not mark.exists():
        mark.touch()
        os._exit(1)
    return x * x


def dies_always(x: int) -> int:
    if x == 1:
        os._exit(1)
    return x


def precision(_: int) -> str:
    return str(jnp.zeros(1).dtype)


class Counter:
    """Counts its calls, if it stays the same object."""

    def __init__(self):
        self.calls = 0

    def __call__(self, _: int) -> int:
        self.calls += 1
        return self.calls


def inverse(x: int) -> float:
    return 1 / x


def test_results_come_in_the_order_of_the_tasks():
    with threads(4) as executor:
        assert run_all(executor, slow_square, [0, 1, 2, 3, 4]) == [0, 1, 4, 9, 16]
        assert run_all(executor, slow_square, []) == []


def test_those_that_end_first_are_seen_first():
    seen = Event()

    def first_waits(x: int) -> bool:
        return seen.wait(60) if x == 0 else True

    order = []
    with threads(2) as executor:
        for i, ended in as_they_end(executor, first_waits, [0, 1]):
            order.append(i)
            assert ended
            seen.set()
    assert order == [1, 0]


def test_nothing_is_begun_after_the_time_is_over(clock):
    with threads(1) as executor:
        done = dict(as_they_end(executor, lambda x: clock.advance(1.0), range(20), seconds=2.5))
    assert list(done) == [0, 1, 2]


def test_an_error_of_a_task_is_the_callers():
    with threads(2) as executor, pytest.raises(ZeroDivisionError):
        run_all(executor, inverse, [1, 0])


def test_processes_use_the_precision_of_the_caller(pool: Processes):
    assert precision(0) == "float64"
    assert run_all(pool, precision, [0, 1]) == ["float64", "float64"]


def test_a_function_stays_in_its_process(pool: Processes):
    # Four tasks on two processes: at least one of them has two, which makes no difference if it starts anew each time.
    assert max(run_all(pool, Counter(), range(4))) >= 2


def test_processes_survive_the_loss_of_one(pool: Processes, tmp_path: Path):
    with pytest.warns(
        RuntimeWarning, match=r"lost its worker in attempt 1 of 3 \(BrokenProcessPool\); it is tried again"
    ) as said:
        assert run_all(pool, partial(dies_once, tmp_path), range(5)) == [0, 1, 4, 9, 16]
    assert any("task 3 of 5" in str(one.message) for one in said)


@pytest.mark.slow
def test_a_task_that_always_kills_is_named(pool: Processes):
    with (
        pytest.warns(RuntimeWarning, match="tried again"),
        pytest.raises(RuntimeError, match=r"task 2 of 3 lost its worker in attempt 2 of 2.*memory"),
    ):
        run_all(pool, dies_always, range(3), attempts=2)


@pytest.mark.slow
def test_a_pool_that_is_not_ours_says_what_to_use(tmp_path: Path):
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as executor,
        pytest.warns(RuntimeWarning, match="tried again"),
        pytest.raises(RuntimeError, match=r"ProcessPoolExecutor has lost a process.*processes\(n\)"),
    ):
        run_all(executor, partial(dies_once, tmp_path), range(5))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Executor]:
    """Two processes of dask; it leaves to us what it does not want to try again."""
    dask = pytest.importorskip("dask", reason="needs hybridsim[cluster]")
    distributed = pytest.importorskip("distributed", reason="needs hybridsim[cluster]")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local) as client,
    ):
        yield client.get_executor()


@pytest.mark.slow
def test_dask_gives_the_same(cluster: Executor):
    assert run_all(cluster, slow_square, range(5)) == [0, 1, 4, 9, 16]
    assert run_all(cluster, precision, [0, 1]) == ["float64", "float64"]


@pytest.mark.slow
def test_a_cluster_is_told_to_stop_when_the_time_is_over(cluster: Executor, clock):
    done = []
    for i, _ in as_they_end(cluster, slow_half_second, range(20), seconds=60.0):
        done.append(i)
        clock.advance(100.0)
    assert 1 <= len(done) < 20


@pytest.mark.slow
def test_dask_survives_the_loss_of_a_worker(cluster: Executor, tmp_path: Path):
    with pytest.warns(RuntimeWarning, match=r"lost its worker in attempt 1 of 3 \(KilledWorker\)") as said:
        assert run_all(cluster, partial(dies_once, tmp_path), range(5)) == [0, 1, 4, 9, 16]
    assert any("task 3 of 5" in str(one.message) for one in said)


def test_no_workers_are_refused():
    with pytest.raises(ValueError, match="0 workers cannot work; give at least 1"):
        processes(0)
