"""The experiments on identification, on a tiny budget; the whole of them, slowly."""

import numpy as np
import pytest

from hybridsim.experiments import coverage, global_search, three_link, unidentifiable


def test_basin_hopping_finds_the_lengths_from_everywhere():
    found = global_search.run(cells=2, methods=("local: Levenberg-Marquardt", "parallel basin hopping"))
    local, hopping = found.methods
    assert found.starts.tolist() == [global_search.LOWER, global_search.UPPER]
    assert hopping.share == 1.0
    assert local.share < 1.0


@pytest.mark.slow
def test_figure_4_of_neuralsim():
    shares = {method.name: method.share for method in global_search.run(cells=8).methods}
    assert shares["parallel basin hopping"] == 1.0
    assert shares["local: L-BFGS-B"] < 0.9
    assert shares["local: Levenberg-Marquardt"] < 0.9


@pytest.mark.slow
def test_three_lengths_become_surer_as_samples_arrive():
    found = three_link.run(arriving=(40,), epochs=150)
    assert np.all(found.deviation < [0.05, 0.1, 0.5] * found.moments(0)[1])
    assert np.all(np.abs(-found.mean - three_link.TRUTH) < 4 * found.deviation)


@pytest.mark.slow
def test_figure_2_of_real2sim():
    found = three_link.run()
    widths = [found.moments(int(np.flatnonzero(found.observed == n)[-1]) + 1)[1] for n in three_link.ARRIVING]
    # With twenty samples two modes are left for the last length; from then on all become narrower.
    assert np.all(np.diff(widths[2:], axis=0) < 0)
    assert np.all(widths[-1] < 0.02 * widths[0])
    assert np.all(np.abs(-found.mean - three_link.TRUTH) < 4 * found.deviation)
    assert np.all(found.deviation < 0.005)
    assert np.all(three_link.run("paper").deviations[-1].min(axis=0) < found.deviation)


@pytest.mark.slow
def test_intervals_contain_the_truth():
    found = coverage.run(problems=2, systems=coverage.SYSTEMS[:1])
    assert [case.how for case in found] == ["level of noise unknown", "level of noise known"]
    for case in found:
        # Of 10 intervals at least 7: right ones fail this once in 1000 times.
        assert case.inside.shape == (2, 5)
        assert case.inside.sum() >= 7


@pytest.mark.slow
def test_95_of_100_intervals_contain_the_truth():
    found = coverage.run(problems=40)
    for how in ("level of noise unknown", "level of noise known"):
        inside = np.concatenate([case.inside.ravel() for case in found if case.how == how])
        # The experiment has 100 problems of each system; of these 400 intervals three standard deviations are 3.3 %.
        assert 0.917 <= inside.mean() <= 0.983
    # Of each number: 9 or more misses in 40 happen to right intervals once in 7000 times.
    assert max((~case.inside).sum(axis=0).max() for case in found) < 9


def test_what_angles_cannot_tell_is_said():
    (let_go,) = unidentifiable.run(unidentifiable.CASES[:1])
    assert "only link/link1/com.z - 2.96 link/link1/inertia.yy" in let_go.words
    assert not any(let_go.determined.values())


@pytest.mark.slow
def test_known_forces_tell_more():
    with_mass, pushed, pushed_with_mass = unidentifiable.run(unidentifiable.CASES[1:])
    assert "of link/link1/mass, link/link1/com.z and link/link1/inertia.yy (3 numbers)" in with_mass.words
    assert not any(with_mass.determined.values())
    assert all(pushed.determined.values())
    assert not any(pushed_with_mass.determined.values())
    assert "only 2 combinations of 3 numbers" in pushed_with_mass.words
