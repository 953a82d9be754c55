"""The main job: from logs to a calibrated model, and to what it lacked."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from ..data.log import Quality, quality
from ..identify import Fit, Free, Parameters, Problem
from ..identify.blas import one_thread
from ..identify.checkpoint import read_checkpoint, write_checkpoint
from ..identify.levenberg_marquardt import Point, search
from ..identify.starts import best_starts
from ..model import Model
from .config import Config
from .contact_search import tried_contact
from .discovery import Discovered, better, discover_effects
from .judge import expected, windows_of
from .library import with_library
from .load import Bench, bench_of
from .menu import EFFECTS, FRICTION, ZERO, Entry, entries
from .networks import needs_friction, network_for
from .result import Calibration, Candidate, Finding
from .shapes import curves_of
from .words import finding_words, in_doubt
from .work import APART, FEW, PARTS, ROUGH, SHORT, StoppedError, Work, redundancy

_HELPS = 0.98
"""Part of the error without it below which a network helps."""
_BEGIN = 0.1
"""Of a window, where contact is tried and fit.toml takes starts as measured [s]."""
_ENOUGH = 0.02
"""Part of the squared error that a way of discovery may leave so that no other is tried."""


@one_thread
def work_through(config: Config, folder: Path, resume: bool, say: Callable[[str], None]) -> Calibration:
    """All stages. `say` is told of every part of the work, and of what happens in it."""
    _refuse_other_settings(config, folder / "progress", resume)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        say(PARTS[0])
        began = time.perf_counter()
        work = Work(config, bench_of(config), folder, resume, say, caught)
        work.seconds[PARTS[0]] = time.perf_counter() - began
        stopped = False
        try:
            _run(work)
        except (StoppedError, KeyboardInterrupt):
            if not work.stages:
                raise KeyboardInterrupt from None
            stopped = True
        except FloatingPointError as problem:
            if not work.stages:
                raise
            warnings.warn(f"the work ended early: {problem}", UserWarning, stacklevel=2)
    return work.calibration(stopped)


def _refuse_other_settings(config: Config, progress: Path, resume: bool) -> None:
    """Refuse to resume a run whose settings changed."""
    progress.mkdir(parents=True, exist_ok=True)
    file, settings = progress / "settings.json", _settings(config)
    kept = read_checkpoint(file) if resume else None
    if kept is not None:
        _compare_settings(kept, settings, progress)
    write_checkpoint(file, {"settings": settings}, continued=resume)


def _settings(config: Config) -> str:
    return repr(replace(config, text="", folder=Path()))


def _compare_settings(kept: dict[str, Any], settings: str, progress: Path) -> None:
    if kept.get("settings") != settings:
        raise ValueError(
            f"{progress.parent} is a run with other settings than are asked for now; give fit.toml as it was, or begin anew "
            "with --force or another --out"
        )


def _run(work: Work) -> None:
    config, bench = work.config, work.bench
    with work.part(PARTS[1]):
        work.qualities = {log.run: _handled(quality(log, bench.model)) for log in (*bench.training, *bench.held_out)}
    with work.part(PARTS[2]):
        problem, menu, places, base = _menu_problem(work)
        training = windows_of(problem, work.training, APART)
        work.add("original", bench.original, None, problem, problem.zeros()[0])
    with work.part(PARTS[3]):
        part = _part(work, training, base)
        begun = _begun(work, _part(work, windows_of(problem, work.training), base), part, tries=True)
        found = work.fit("calibrated", part, start=begun)
        z = _whole(work, problem, part, found)
        work.add("calibrated", _bare(found.model), _without_library(found), problem, z)
    with work.part(PARTS[4]):
        start = Point(z, _point(found).s, cost=found.cost)
        places_of_base = [problem.parameters.names.index(name) for name in part.parameters.names]
        short = _short(work, windows_of(problem, work.training))
        # Short windows lead to the right effects where much is missing, whole ones where models are wrong in many small ways.
        ways = (short, training), (training,)
        discovered = _discover(work, ways, start, places_of_base, menu, places)
        work.candidates = discovered.candidates
    if not discovered.chosen:
        return
    with work.part(PARTS[5]):
        for again in ("", " again"):
            laws, alone, start = _law_problem(work, training, base, menu, discovered)
            held = _terms(problem, discovered, places)
            # Where forces were found that no law is for, laws alone make up for them: beside these forces, as the menu's
            # terms describe them, the numbers are right, and from there the network begins.
            part = _part(work, training, [*base, *laws], held) if held.any() else alone
            beside = work.fit(f"described{again}", part, start=start)
            doubtful = [e for e in discovered.chosen if in_doubt(e, beside)]
            if again or not doubtful or beside.done == "stopped":
                break
            discovered = discovered.without(doubtful)
            work.candidates = discovered.candidates
            if not discovered.chosen:
                return
        if held.any() and beside.done == "stopped":
            raise StoppedError
        found = work.fit("explained", alone, start=start) if held.any() else beside
        z = _whole(work, problem, alone, found)
        work.findings = _findings(discovered, beside, {})
        work.add("explained", _bare(found.model), _without_library(found), problem, z)
        work.settle(problem, [f for e in discovered.chosen if e.effect == ZERO for f in e.free], found)
        z = _whole(work, problem, part, beside, held)
    if config.network:
        _hybrid(work, discovered.chosen, [*base, *laws], _without_library(beside), problem.parameters.model(z))
        shapes = {c.joint: c.words for c in work.curves if c.labels[0].startswith("velocity")}
        work.findings = _confirmed(work, discovered, _findings(discovered, beside, shapes))


def _law_problem(
    work: Work, training: Problem, base: Sequence[Free], menu: Sequence[Entry], discovered: Discovered
) -> tuple[list[Free], Problem, Point]:
    """The laws that were found, the problem in which they are free beside the rest, and where its search begins."""
    shaped, chosen = needs_friction(discovered.chosen), discovered.chosen
    laws = [f for e in menu if e in chosen or (e.effect == FRICTION and e.where in shaped) for f in e.free]
    part = _part(work, training, [*base, *laws])
    index = [training.parameters.names.index(name) for name in part.parameters.names]
    return laws, part, Point(discovered.point.z[index], discovered.point.s)


def _confirmed(work: Work, discovered: Discovered, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """With a word of doubt about forces whose network does not help on runs that it has not seen."""
    errors = {stage.name: stage.held_out.score for stage in work.stages}
    if not work.bench.held_out or "hybrid" not in errors or errors["hybrid"] < _HELPS * errors["explained"]:
        return findings
    return tuple(
        found if entry.law else replace(found, words=f"{found.words}; not confirmed on held-out runs")
        for entry, found in zip(discovered.chosen, findings, strict=True)
    )


def _handled(found: Quality) -> Quality:
    """Without what this job does itself: it resamples, and it finds delays by better means."""
    kept = []
    for level, words in found.verdicts:
        if " later: shift it by " in words:
            continue
        kept.append(
            ("good", words.replace("resample before a fit", "resampled")) if "jitter" in words else (level, words)
        )
    return replace(found, verdicts=tuple(kept) or (("good", "nothing was found that would mislead a fit"),))


def _menu_problem(work: Work) -> tuple[Problem, list[Entry], dict[Entry, tuple[int, ...]], list[Free]]:
    """One problem in which everything is free that any stage may want; each then takes its part of it."""
    config, bench = work.config, work.bench
    base = list(config.free)
    library_model, library = with_library(bench.model, bench.training, bench.contact)
    taken = frozenset(Parameters(bench.model, base, _controls(bench), None, work.training).names)
    effects = [EFFECTS[word] for word in config.effects]
    menu = entries(bench.model, bench.training, library, effects, config.longest_delay, taken)
    laws = [f for e in menu for f in e.free]
    extra = [Free("network")] if library else []
    problem = work.problem(library_model, [*base, *laws, *extra])
    names = problem.parameters.names
    first = names.index("network[0]") if extra else 0
    places = {
        e: tuple(
            i for i, name in enumerate(names) for f in e.free if name == f.pattern or name.startswith(f"{f.pattern} [")
        )
        + tuple(first + k for k in e.weights)
        for e in menu
    }
    return problem, menu, places, base


def _controls(bench: Bench) -> int:
    controls = bench.training[0].controls
    return 0 if controls is None else controls.shape[1]


def _short(work: Work, problem: Problem) -> Problem:
    """Of the beginnings of its windows only: motion that is not yet chaotic leads a search to the right place."""
    return problem.with_data(problem.data.shortened(max(10, round(SHORT * work.config.window / work.bench.dt))))


def _begun(work: Work, every: Problem, part: Problem, tries: bool = False) -> Point:
    """Where to begin a search in whole windows: where one in the beginnings of all windows ends. With `tries`, friction and
    restitution of contact are tried before."""
    short = _short(work, every)
    z, s = short.zeros()
    begin = _BEGIN if work.config.start == "measured" else max(float(work.config.start), 2 * work.bench.dt)
    tried = tried_contact(every, begin, work.say) if tries else None
    z = z if tried is None else tried
    if tried is None or not all(name.startswith("contact/") for name in every.parameters.names):
        z = search(short, Point(z, best_starts(short, z, s, 5, 1e-4)), FEW, ROUGH).z
    return Point(z, best_starts(part, z, iterations=10, tolerance=1e-4))


def _terms(problem: Problem, discovered: Discovered, places: dict[Entry, tuple[int, ...]]) -> np.ndarray:
    """The weights of chosen terms of the library, everything else zero."""
    z = problem.zeros()[0]
    for index in (list(places[e]) for e in discovered.chosen if not e.law):
        z[index] = discovered.point.z[index]
    return z


def _part(work: Work, problem: Problem, free: Sequence[Free], others: np.ndarray | None = None) -> Problem:
    """Zeros of encoders of runs that no fit sees are not in it, and stay zero, or at `others`."""
    own = Parameters(problem.parameters.base.model, free, _controls(work.bench), None, work.training)
    return problem.part(own, problem.zeros()[0] if others is None else others)


def _point(fit: Fit) -> Point:
    if fit.point is None:
        raise ValueError("this fit was loaded; its point is not known")
    return fit.point


def _whole(work: Work, problem: Problem, part: Problem, fit: Fit, others: np.ndarray | None = None) -> np.ndarray:
    """All numbers of the menu, with those of a fit in their places; of runs that it has not seen as they are to be expected."""
    z = problem.zeros()[0] if others is None else others.copy()
    z[[problem.parameters.names.index(name) for name in part.parameters.names]] = _point(fit).z
    return expected(z, problem.parameters, work.training)


def _bare(model: Model) -> Model:
    """Without the menu's library."""
    return replace(model, augmentation=None)


def _without_library(fit: Fit) -> Fit:
    return replace(fit, model=_bare(fit.model))


def _discover(work, ways, start, base, menu, places) -> Discovered:
    """Discover which effects are missing, or read it from the checkpoint of a run that is resumed."""
    file = work.folder / "progress" / "discovery.json"
    settings = f"{_settings(work.config)} {[(e.effect, e.where) for e in menu]}"
    kept = read_checkpoint(file) if work.resume else None
    if kept is not None:
        _compare_settings(kept, settings, file.parent)
        by_name = {(e.effect, e.where): e for e in menu}
        chosen = tuple(by_name[effect, where] for effect, where in kept["chosen"])
        point = Point(np.array(kept["z"]), np.array(kept["s"]).reshape(start.s.shape))
        return Discovered(chosen, tuple(Candidate(**c) for c in kept["candidates"]), point)
    tried: list[Discovered] = []
    for problems in ways:
        tried.append(discover_effects(problems, start, base, menu, places, work.config.least, seen=work.say))
        if tried[-1].left < _ENOUGH * tried[-1].first:
            break
    found = reduce(better, tried)
    for entry in found.chosen:
        work.say(f"found {entry.effect}{f' at {entry.where}' if entry.where else ''}")
    found_now = {
        "settings": settings,
        "chosen": [(e.effect, e.where) for e in found.chosen],
        "candidates": [vars(c) for c in found.candidates],
        "z": found.point.z.tolist(),
        "s": found.point.s.ravel().tolist(),
    }
    write_checkpoint(file, found_now, continued=work.resume)
    return found


def _findings(discovered: Discovered, fit: Fit, shapes: dict[str, str]) -> tuple[Finding, ...]:
    gains = {(c.effect, c.where): c.gain for c in discovered.candidates}
    return tuple(
        Finding(
            e.effect,
            e.where,
            gains[e.effect, e.where],
            finding_words(e, fit, shapes.get(e.where, "") if e.effect == FRICTION else ""),
        )
        for e in discovered.chosen
    )


def _hybrid(work: Work, chosen: Sequence[Entry], free: Sequence[Free], explained: Fit, described: Model) -> None:
    config, bench = work.config, work.bench
    with work.part(PARTS[6]):
        hybrid = network_for(explained.model, chosen, bench.training, config.hidden, bench.contact, described)
        if hybrid is None:
            return
        shaped = {f"joint/{joint}/friction" for joint in needs_friction(chosen)}
        known = {e.name: e.value for e in explained.parameters}
        # The network is a factor of the friction's constant, so that one stays where it is.
        own = [_started(f, known) for f in free if f.pattern not in shaped]
        noise = max(explained.noise, 1e-12) * redundancy(explained)
        everything = [*own, Free("network", prior=(0.0, config.weight_spread))]
        problem = work.problem(hybrid, everything, noise)
        part = _part(work, windows_of(problem, work.training, APART), everything)
        start = _begun(work, _part(work, windows_of(problem, work.training), everything), part)
        found = work.fit("hybrid", part, known=True, start=start)
        work.add("hybrid", found.model, found, problem, _whole(work, problem, part, found))
        work.settle(problem, [f for f in own if f.per_run], explained)
    with work.part(PARTS[7]):
        work.curves = curves_of(found.model, explained.model, chosen, bench.training)


def _started(free: Free, known: dict[str, float]) -> Free:
    """From where it was found before; rounding may have put that a little beyond its bounds."""
    value = known.get(str(free.pattern))
    return free if value is None else replace(free, start=float(np.clip(value, free.lower, free.upper)))
