"""Which effects of the menu do the data ask for? One after another, judged on runs that were left out.

Around the present best fit the residuals are nearly linear in everything that is free or could be, so what an effect would
explain is linear algebra: for each part of the data that is left out, the step that the others ask for is taken, and its
error on that part is what counts. The best effect is taken in, everything that is free is fitted anew by the true motion,
and again. An effect that only fits noise explains nothing of what was left out, and ends it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from ..identify import Problem
from ..identify.levenberg_marquardt import Point, search
from ..identify.normal import Normal
from ..identify.starts import best_starts
from .library import COUPLING
from .menu import Entry
from .result import Candidate

_RIDGE = 1e-6
"""Of the diagonal: what is hardly determined takes no long steps."""
_SAME_KIND = 0.1
"""The same effect at other joints is taken in with the best, if it explains this part of what the best one does."""
_HARDER = 0.2
"""The less is left of the first error, the larger the part of it that an effect has to explain: what is left of a model that
is nearly right is the sum of many small faults, for which any effect stands in. The exponent of the ratio of the two."""
_TRIFLE = 1e-3
"""Part of the first error below which a new force is not worth its network."""
_IDLE = 0.5
"""Part of what an effect has to explain to be taken in, below which it is left out again."""
_AS_GOOD = 0.9
"""Part of the best one's gain for which a simpler effect is preferred."""
_KIND_AS_GOOD = 0.6
"""Part of the best one's gain for which a law of the engine is preferred to a new force, which bends to more shapes, and a
force of the joint's own motion to one of other joints'. If that is there it is found next, and the other left out again."""
_MOST_PARTS = 0.6
"""Share of the parts of the data, each left out in turn, in which an effect has to help."""
_ITERATIONS = 8


@dataclass(frozen=True)
class Discovered:
    chosen: tuple[Entry, ...]
    """In the order in which they were taken in."""
    candidates: tuple[Candidate, ...]
    point: Point
    """Of the whole problem, with all that was chosen free."""
    left: float = 0.0
    """Squared error that is left, on data that were left out."""
    first: float = np.inf
    """The same without any effect."""

    def without(self, entries: Sequence[Entry]) -> "Discovered":
        """As if these had not been chosen."""
        names = {(e.effect, e.where) for e in entries}
        candidates = tuple(
            replace(c, chosen=False, order=-1) if (c.effect, c.where) in names else c for c in self.candidates
        )
        return replace(self, chosen=tuple(e for e in self.chosen if e not in entries), candidates=candidates)


@dataclass(frozen=True)
class _Fold:
    """Normal equations of one part of the data, starts of windows eliminated: its squared error is c + 2 b.d + d.A d."""

    A: Float[np.ndarray, "size size"]
    b: Float[np.ndarray, " size"]
    c: float
    own: np.ndarray
    """Numbers that belong to this part alone, such as the zero of its encoders: they are found in it, not predicted."""


@dataclass(frozen=True)
class _Held:
    """A problem without slopes by what is held anyway."""

    problem: Problem
    held: tuple[int, ...]

    def cost(self, z: np.ndarray, s: np.ndarray) -> float:
        return self.problem.cost(z, s)

    def normal(self, z: np.ndarray, s: np.ndarray) -> Normal:
        return self.problem.normal(z, s, self.held)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.bounds()


def discover_effects(
    problems: Sequence[Problem],
    start: Point,
    free: Sequence[int],
    menu: Sequence[Entry],
    places: dict[Entry, tuple[int, ...]],
    least: float = 0.05,
    most: int = 12,
    seen: Callable[[str], None] = lambda words: None,
) -> Discovered:
    """`problems`: the same with short windows first and then longer ones, to the last of which the start belongs: the errors
    of a model that lacks much are nearly linear in what it lacks in short windows only, and small effects are seen in long
    ones only. `free`: numbers of the problem that are fitted anyway; `places`: those of each entry. An effect has to explain
    at least the part `least` of the squared error that is left, on data that were left out; more, when little is left."""
    chosen: list[Entry] = []
    gains: dict[Entry, tuple[float, int]] = {}
    first = 1.0
    left: dict[Entry, float] = {}
    point = start
    for problem in problems:
        begin = start if problem is problems[-1] else _restarted(problem, start, _columns(free, (), places))
        first = max(float(_left_out(_folds(problem, begin), _columns(free, (), places), problem, begin).sum()), 1e-300)
        point = _restarted(problem, point, _columns(free, chosen, places)) if chosen else begin
        held_back: set[Entry] = set()
        while len(chosen) < most:
            folds = _folds(problem, point)
            now = _columns(free, chosen, places)
            each = _left_out(folds, now, problem, point)
            before = float(each.sum())
            left = {e: _gain(each, _left_out(folds, _columns(free, [*chosen, e], places), problem, point)) for e in menu
                    if e not in chosen and e not in held_back and _may(e, chosen, menu)}  # fmt: skip
            enough = least * before * max(first / max(before, 1e-300), 1.0) ** _HARDER
            worthy = {e: gain for e, gain in left.items() if gain >= max(enough, 0.0 if e.law else _TRIFLE * first)}
            if not worthy:
                break
            best = _simplest(worthy)
            taken = [best]
            for e in sorted(left, key=lambda e: -left[e]):
                alike = e.effect == best.effect and left[e] > max(_SAME_KIND * left[best], 0.2 * least * before)
                if e is not best and alike and _may(e, [*chosen, *taken], menu):
                    taken.append(e)
            try:
                trial = _fitted(problem, point, _columns(free, [*chosen, *taken], places))
            except FloatingPointError:
                trial = point
            if not trial.cost < point.cost * (1 - 0.3 * least):
                # What looked good to first order is not: do not ask again.
                held_back.update(taken)
                continue
            for e in sorted(taken, key=lambda e: -left[e]):
                gains[e] = (max(left[e], 0.0) / first, len(chosen))
                chosen.append(e)
            point = trial
            seen(f"{best.effect} at {', '.join(e.where for e in taken)}" if best.where else best.effect)
    chosen, point = _without_idle(problems[-1], point, free, chosen, places, least)
    candidates = [Candidate(e.effect, e.where, float(gains[e][0]), True, gains[e][1]) for e in chosen]
    rest = sorted((e for e in menu if e not in chosen), key=lambda e: -left.get(e, 0.0))
    candidates += [Candidate(e.effect, e.where, float(max(left.get(e, 0.0), 0.0) / first), False) for e in rest]
    left_out = float(_left_out(_folds(problems[-1], point), _columns(free, chosen, places), problems[-1], point).sum())
    return Discovered(tuple(chosen), tuple(candidates), point, left_out, first)


def better(one: Discovered, other: Discovered) -> Discovered:
    """That which leaves less of what was left out; of nearly equal ones that with fewer effects."""
    if min(one.left, other.left) > _AS_GOOD * max(one.left, other.left):
        return min(one, other, key=lambda found: (len(found.chosen), found.left))
    return min(one, other, key=lambda found: found.left)


def _without_idle(problem, point, free, chosen, places, least) -> tuple[list[Entry], Point]:
    """What was taken in early and is hardly needed any more, beside what came later, is left out again; the least first."""
    chosen = list(chosen)
    while len(chosen) > 1:
        folds = _folds(problem, point)
        now = float(_left_out(folds, _columns(free, chosen, places), problem, point).sum())
        loss = {}
        for e in chosen:
            others = _columns(free, [x for x in chosen if x is not e], places)
            back = np.zeros(problem.size)
            own = np.setdiff1d(places[e], others)
            back[own] = -point.z[own]
            loss[e] = float(_left_out(folds, others, problem, point, back).sum()) - now
        idle = min(loss, key=lambda e: loss[e])
        if loss[idle] > _IDLE * least * now:
            break
        chosen.remove(idle)
        z = point.z.copy()
        z[np.setdiff1d(places[idle], _columns(free, chosen, places))] = 0.0
        point = _fitted(problem, Point(z, point.s), _columns(free, chosen, places))
    return chosen, point


def _gain(before: np.ndarray, after: np.ndarray) -> float:
    """By how much the squared error of what is left out falls; nothing, if it does not in most of the parts."""
    return float(np.sum(before - after)) if np.mean(after < before) >= _MOST_PARTS else 0.0


def _may(entry: Entry, chosen: Sequence[Entry], menu: Sequence[Entry]) -> bool:
    """Whether the simpler effect that comes before it has been taken in, or was never on the menu; and whether it is not
    the last of several that together say nothing new."""
    before = [e for e in menu if e.effect == entry.after and e.where == entry.where]
    others = [e for e in menu if e.effect == entry.effect and e is not entry]
    if entry.relative and all(e in chosen for e in others):
        return False
    return not before or before[0] in chosen


def _simplest(left: dict[Entry, float]) -> Entry:
    """A law of the engine, if one explains nearly as much as the best effect, else a force of a joint's own motion, else one
    of other joints' motion; among them, of those that explain nearly as much as the best, the one with the fewest numbers."""
    kinds = [[e for e in left if e.law], [e for e in left if not e.law and e.effect != COUPLING], list(left)]
    best = max(left.values())
    enough = min(best, _KIND_AS_GOOD * best)
    found = next(kind for kind in kinds if kind and max(left[e] for e in kind) >= enough)
    most = max(left[e] for e in found)
    near = [e for e in found if left[e] >= most - (1 - _AS_GOOD) * abs(most)]
    return min(near, key=lambda e: (len(e.weights), -left[e]))


def _columns(free: Sequence[int], entries: Sequence[Entry], places: dict[Entry, tuple[int, ...]]) -> np.ndarray:
    return np.unique([*free, *(i for e in entries for i in places[e])]).astype(int)


def _restarted(problem: Problem, point: Point, columns: np.ndarray) -> Point:
    """Fitted in other windows than those from which the point comes."""
    s = best_starts(problem, point.z, iterations=10, tolerance=1e-4)
    return _fitted(problem, Point(point.z, s), columns)


def _fitted(problem: Problem, point: Point, columns: np.ndarray) -> Point:
    held = tuple(int(i) for i in np.setdiff1d(np.arange(problem.size), columns))
    return search(_Held(problem, held), Point(point.z, point.s), _ITERATIONS, 1e-3, held=held)


def _folds(problem: Problem, point: Point, few: int = 3, blocks: int = 4) -> list[_Fold]:
    """One for each run; where runs are few, blocks of windows that follow each other."""
    runs = list(dict.fromkeys(problem.data.runs))
    labels = np.array([runs.index(run) for run in problem.data.runs])
    if len(runs) < few:
        labels = np.minimum(np.arange(len(labels)) * blocks // max(len(labels), 1), blocks - 1)
    n, count = problem.size, int(labels.max()) + 1
    A, b, c = np.zeros((count, n, n)), np.zeros((count, n)), np.zeros(count)
    for part, r, J, K, _ in problem.rows(point.z, point.s):
        if problem.own:
            # What a better start of the window could explain is nobody else's.
            scaled = K / np.maximum(np.linalg.norm(K, axis=1, keepdims=True), 1e-300)
            Q = np.linalg.qr(scaled)[0]
            J = J - Q @ (Q.transpose(0, 2, 1) @ J)
            r = r - (Q @ (Q.transpose(0, 2, 1) @ r[..., None]))[..., 0]
        for w, k in enumerate(labels[part]):
            A[k] += J[w].T @ J[w]
            b[k] += J[w].T @ r[w]
            c[k] += r[w] @ r[w]
    own = [np.flatnonzero((np.abs(np.diagonal(A[k])) > 0) & (sum(np.abs(np.diagonal(A[j])) for j in range(count) if j != k) == 0))
           for k in range(count)]  # fmt: skip
    return [_Fold(A[k], b[k], float(c[k]), own[k]) for k in range(count)]


def _left_out(
    folds: list[_Fold], columns: np.ndarray, problem: Problem, point: Point, given: np.ndarray | None = None
) -> Float[np.ndarray, " folds"]:
    """Squared error of each part when it is left out, after the step that the others ask for. `given`: a step of other
    numbers that is taken anyway."""
    given = np.zeros(problem.size) if given is None else given
    lower, upper = problem.bounds()
    A_all, b_all = sum(f.A for f in folds), sum(f.b for f in folds)
    errors = []
    for fold in folds:
        A, b = A_all - fold.A, b_all - fold.b
        shared = np.setdiff1d(columns, fold.own)
        d = given.copy()
        d[shared] = _step(A, b + A @ given, shared, lower - point.z, upper - point.z)
        mine = np.intersect1d(columns, fold.own)
        if len(mine):
            d[mine] = _step(fold.A, fold.b + fold.A @ d, mine, lower - point.z, upper - point.z)
        errors.append(max(float(fold.c + 2 * fold.b @ d + d @ fold.A @ d), 0.0))
    return np.array(errors)


def _step(A: np.ndarray, b: np.ndarray, columns: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The step to the least squared error within bounds: numbers that would leave them stay at them."""
    d, free = np.zeros(len(b)), np.array(columns)
    for _ in range(len(columns) + 1):
        if not len(free):
            break
        sub = A[np.ix_(free, free)]
        rest = np.setdiff1d(columns, free)
        diagonal = np.diagonal(sub)
        floor = _RIDGE * np.maximum(diagonal, 1e-3 * diagonal.max(initial=1e-300)) + 1e-300
        d[free] = -np.linalg.solve(sub + np.diag(floor), b[free] + A[np.ix_(free, rest)] @ d[rest])
        out = (d[free] < lower[free]) | (d[free] > upper[free])
        if not out.any():
            break
        d[free[out]] = np.clip(d[free[out]], lower[free[out]], upper[free[out]])
        free = free[~out]
    return d[columns]
