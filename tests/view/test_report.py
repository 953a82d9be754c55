"""The report of a calibration: one page that is well made, stands by itself and says what the numbers say."""

from dataclasses import replace

import numpy as np
import pytest

from hybridsim.calibrate.result import Candidate
from hybridsim.view.report import write_report
from hybridsim.view.report.headline import advice, sentence
from hybridsim.view.report.missing import missing
from hybridsim.view.report.numbers import digits_for, error, number, short_names
from hybridsim.view.report.units import units_of
from hybridsim.view.report.windows import log_time, same_window, shown_runs, shown_windows

from .pages import Reader
from .synthetic import FILES, MEDIANS, calibration, line, model

FEW, RUN = ("original", "calibrated"), ("one.csv",)
"""Fewer stages and runs than all make fewer figures."""


@pytest.fixture(scope="module")
def page(full) -> Reader:
    return Reader(full.read_text(encoding="utf-8"))


def read(made, folder) -> Reader:
    return Reader(write_report(made, folder).read_text(encoding="utf-8"))


def test_the_page_stands_by_itself(full, page):
    assert full.stat().st_size < 5e6
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    links = page.values("href") + page.values("xlink:href") + page.values("src")
    assert links
    assert all(link.startswith("#") for link in links)
    assert "url(http" not in full.read_text(encoding="utf-8")
    assert "@import" not in full.read_text(encoding="utf-8")


def test_links_lead_somewhere_and_identifiers_are_unique(page):
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.values("href")} <= set(ids)


def test_every_figure_is_there_and_described(full, page):
    files = {file.stem for file in (full.parent / "figures").glob("*.svg")}
    assert files == {"run_1", "run_2", "windows", "error_by_horizon", "force_1", "force_2"}
    assert {f"figure-{name}" for name in files} <= set(page.values("id"))
    assert page.tags.count("figure") == len(files)
    assert all(page.values("aria-label"))
    assert page.tags.count("svg") == len(page.values("aria-label"))


def test_the_head_says_the_result(page):
    assert "On 2 held-out runs the median error over 1 s falls from 12.3 deg to 0.310 deg, 40 times." in page.text
    assert (
        "The network takes away 33 % of the error that is left without it: take the hybrid model (model.hybrid)."
        in page.text
    )
    for value in MEDIANS.values():
        assert number(np.degrees(value), full=True) in page.text


def test_findings_candidates_parameters_and_files_are_told(page):
    for words in (
        "looks like Coulomb friction of 0.31 N m.",
        "explains 62 % of the error",
        "All 16 candidates",
        "chosen 2nd",
        "1.234 1.211 to 1.258 +23 %",
        "kg m² 0.0833 0.08310 not determined",
        "control/delay : of the measurement, not of the mechanism",
        "link/link2/inertia.xx : not seen in the logs",
        "joint/joint2/armature : ended at a bound",
        "all runs: 2 % of the samples jitter",
        "3 samples out of order were dropped",
        "every fitted number with its interval",
        "fit 8.2 s",
    ):
        assert words in page.text


@pytest.mark.slow
def test_the_same_calibration_gives_the_same_bytes(full, tmp_path):
    again = write_report(calibration(), tmp_path, FILES)
    assert again.read_bytes() == full.read_bytes()
    for file in (full.parent / "figures").iterdir():
        assert (tmp_path / "figures" / file.name).read_bytes() == file.read_bytes()


def test_names_of_people_are_text_and_not_markup(tmp_path):
    evil = '<b>&"'
    made = calibration(FEW, (f"logs/{evil}.csv",), robot=model(evil), title=f"{evil} $x_1$")
    made = replace(made, warnings=(f"{evil} was read",), curves=(replace(line(), joint=evil, words=f"of {evil}"),))
    path = write_report(made, tmp_path, {evil: evil})
    reader = Reader(path.read_text(encoding="utf-8"))
    assert "<b>&" not in path.read_text(encoding="utf-8")
    assert reader.texts.count(evil) >= 3
    assert f"{evil} $x_1$" in reader.texts


def test_a_run_that_was_stopped_after_the_original(tmp_path):
    reader = read(calibration(("original",), RUN), tmp_path)
    assert "stopped before its end" in reader.text
    assert "is 12.3 deg with the model as it is in the file; nothing was fitted." in reader.text
    assert "No parameters were fitted." in reader.text
    assert "search for missing effects was not made" in reader.text


@pytest.mark.slow
def test_without_held_out_runs_it_says_so(tmp_path):
    reader = read(calibration(FEW, RUN, held_out=False), tmp_path)
    assert "No run was held out" in reader.text
    assert "On the run of the fit itself the median error" in reader.text
    assert "held-out" not in reader.text


def test_simulations_without_end(tmp_path):
    reader = read(calibration(FEW, RUN, {"original": np.inf}), tmp_path)
    assert "the model of the file runs away; now the median error over 1 s is 2.36 deg." in reader.text
    assert "6 of 6 windows diverged" in reader.text
    assert not {"inf", "nan"} & set(reader.text.split())


@pytest.mark.slow
def test_simulations_of_which_none_ends(tmp_path):
    reader = read(calibration(FEW, RUN, {"original": np.inf, "calibrated": np.inf}), tmp_path)
    assert "every model runs away" in reader.text
    assert reader.tags.count("figure") == 3


def test_windows_that_are_shown():
    prediction = calibration(FEW, RUN).stages[0].prediction
    assert shown_windows(prediction, "one.csv", most=3) == [0, 2, 5]
    assert log_time(prediction, 2) == pytest.approx(2.0)
    since_1970 = replace(prediction, times=prediction.times + 1.7e9)
    assert log_time(since_1970, 2) == pytest.approx(2.0, abs=1e-6)
    assert same_window(prediction, prediction, 3) == 3
    assert same_window(prediction, since_1970, 3) is None
    many = calibration(FEW, ("a", "b", "c", "d", "e")).stages[0].prediction
    assert shown_runs(many) == ["a", "c", "e"], "the best, the median and the worst"


@pytest.mark.slow
def test_gaps_of_a_slow_sensor_and_a_joint_that_was_never_measured(tmp_path):
    made = calibration(FEW, RUN)
    stages = []
    for stage in made.stages:
        gone = np.ones(stage.prediction.measured.shape, bool)
        gone[:, ::5, 0] = False
        measured = np.where(gone, np.nan, stage.prediction.measured)
        errors = replace(stage.held_out, differences=stage.prediction.simulated - measured)
        stages.append(replace(stage, held_out=errors, prediction=replace(stage.prediction, measured=measured)))
    reader = read(replace(made, stages=tuple(stages)), tmp_path)
    assert not {"inf", "nan"} & set(reader.text.split())


def test_a_network_that_adds_nothing_is_not_recommended():
    assert advice(calibration(medians={"hybrid": 0.02}), {}) == "The network adds nothing: take calibrated.urdf."
    little = advice(calibration(medians={"hybrid": 0.0081}), {"explained.urdf": "with friction"})
    assert "only 0.25 % of the error: explained.urdf, without it, is nearly as good" in little


@pytest.mark.slow
def test_forces_of_a_network_that_is_not_the_best(tmp_path):
    assert "“explained” is better on these runs" in read(calibration(medians={"hybrid": 0.02}), tmp_path).text


def test_fits_that_are_worse_than_the_file_are_not_recommended():
    made = calibration(FEW, medians={"calibrated": 0.5})
    assert "no fitted model is better than the one in the file" in sentence(made, units_of(model()))


def test_candidates_without_a_number():
    made = replace(calibration(FEW), candidates=(Candidate("backlash", "", float("nan"), False),))
    reader = Reader(missing(made))
    assert "the model lacks none of it" in reader.text
    assert "backlash everywhere \N{EN DASH}" in reader.text


def test_positions_are_in_degrees_millimetres_or_both():
    (turns,) = units_of(model()).kinds
    assert (turns.si, turns.unit) == ("rad", "deg")
    assert turns.factor == pytest.approx(57.29578)
    (slides,) = units_of(model(kinds=("prismatic", "prismatic"))).kinds
    assert (slides.si, slides.factor, slides.unit) == ("m", 1e3, "mm")
    both = units_of(model(kinds=("revolute", "prismatic")))
    assert [kind.unit for kind in both.kinds] == ["deg", "mm"]
    assert {name: kind.unit for name, kind in both.by_name.items()} == {"joint1": "deg", "joint2": "mm"}


def test_numbers_for_people():
    assert [number(x) for x in (0.0, 1234.6, 1.5e-5, -2.0)] == ["0", "1235", "1.5e\N{MINUS SIGN}5", "\N{MINUS SIGN}2"]
    assert [number(x, full=True) for x in (3.0, 100.0, 14.0)] == ["3.00", "100", "14.0"]
    assert [error(x, "deg") for x in (np.inf, np.nan, 0.5)] == ["diverged", "not measured", "0.500 deg"]
    assert digits_for(1.2345, 0.012) == 4
    assert short_names(["a/x.csv", "b/y.csv"]) == {"a/x.csv": "x.csv", "b/y.csv": "y.csv"}
    assert short_names(["a/x.csv", "b/x.csv"]) == {"a/x.csv": "a/x.csv", "b/x.csv": "b/x.csv"}
