"""Which numbers, and which combinations of them, the data determine: from the slopes of the residuals at one point.

A direction v of the numbers is undetermined where the residuals, in units of their noise, hardly change along it:
|S v| < |T v| with a threshold T for each number. Its standard deviation by Gauss and Newton is |v| / |S v|.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

from .words import Number, Unidentified, Weak, defect, echelon, listed, whole


@dataclass(frozen=True)
class Identifiability:
    """How well the data, and priors if given, determine each number."""

    numbers: tuple[Number, ...]
    singular: Float[np.ndarray, " numbers"]
    """Of the slopes in steps, falling: one over the standard deviations along the principal directions."""
    rank: int
    """How many combinations are determined."""
    deviation: Float[np.ndarray, " numbers"]
    """Standard deviation of each number by Gauss and Newton [unit]; infinite where it is not determined."""
    unidentified: tuple[Unidentified, ...]
    weak: tuple[Weak, ...]
    hardly: tuple[Unidentified, ...]
    """Weak numbers that are weak together: of these mainly some combinations are determined."""

    @property
    def condition(self) -> float:
        """Largest over smallest singular value; infinite where something is not determined."""
        full = self.rank == len(self.numbers)
        return float(self.singular[0] / self.singular[-1]) if full else np.inf

    @property
    def determined(self) -> dict[str, bool]:
        return {n.name: bool(np.isfinite(d)) for n, d in zip(self.numbers, self.deviation, strict=True)}

    def words(self) -> str:
        """A few sentences."""
        count, alone = len(self.numbers), [u.members[0] for u in self.unidentified if len(u.members) == 1]
        if self.rank == count:
            head = (
                f"all {count} numbers are determined (condition {self.condition:.2g})"
                if count > 1
                else "it is determined"
            )
        else:
            head = f"the data determine only {self.rank} combination{'s' * (self.rank != 1)} of {count} numbers"
        said = [defect(alone, np.eye(len(alone)))] if alone else []
        said += [u.words() for u in self.unidentified if len(u.members) > 1]
        said += [w.words() for w in self.weak]
        said += [f"roughly, {u.words()}" for u in self.hardly]
        return "\n- ".join([head, *said])

    __str__ = words


def identifiability(
    S: Float[np.ndarray, "n numbers"],
    numbers: Sequence[Number],
    physical: Float[np.ndarray, "numbers numbers"] | None = None,
    *,
    precision: float = 1e-9,
    hopeless: float = 1e4,
    weak: float = 1.0,
    share: float = 0.25,
) -> Identifiability:
    """What residuals with the slopes S (in units of their noise) tell of the numbers.

    S: slopes with respect to the search's coordinates, or the R of its QR factors. Nuisances are already projected out.
    physical: derivative of the numbers in their units with respect to these coordinates; without it a coordinate is the
        logarithm of its number, or counts sizes.
    precision: to which S is right, beside the largest entry of a column. What is smaller is taken for rounding.
    hopeless, weak: standard deviations, in steps, above which a direction is undetermined, or weak.
    share: of the range between bounds, above which a standard deviation is weak.
    """
    U = _in_steps(S, numbers, physical)
    lengths = np.linalg.norm(U, axis=0)
    # A column far smaller than the others may be nothing but their rounding: it is not scaled up all the way.
    rounding = precision * np.maximum(lengths, 1e-3 * lengths.max())

    T = np.maximum(rounding, 1 / hopeless)
    s, V = _directions(U / T)
    groups = _groups(U, T)
    lost = np.zeros(len(numbers), bool)
    for members, _ in groups:
        lost[members] = True
    steps = np.array([n.step for n in numbers])
    deviation = np.linalg.norm(V[s > 1] / s[s > 1, None], axis=0) / T * steps
    deviation[lost] = np.inf

    # What is left once the undetermined ones are free to explain whatever they can.
    kept = np.flatnonzero(~lost)
    q = np.linalg.svd(U[:, lost], full_matrices=False)
    basis = q[0][:, q[1] > T[lost].max(initial=0.0)]
    rest = U[:, kept] - basis @ (basis.T @ U[:, kept])
    hardly = [(kept[i], v) for i, v in _groups(rest, np.maximum(rounding[kept], 1 / weak))]

    def named(found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Unidentified, ...]:
        return tuple(Unidentified(tuple(numbers[int(i)] for i in members), v) for members, v in found)

    return Identifiability(
        tuple(numbers),
        _directions(U)[0],
        int(np.sum(s > 1)),
        deviation,
        named(groups),
        tuple(_weak([(numbers[int(i)], float(deviation[i])) for i in kept], weak, share)),
        named([group for group in hardly if len(group[0]) > 1]),
    )


def _in_steps(S: np.ndarray, numbers: Sequence[Number], physical: np.ndarray | None) -> np.ndarray:
    """Slopes with respect to the numbers counted in steps, with a row for each prior; not more rows than needed."""
    if S.shape[1] != len(numbers) or not len(numbers):
        raise ValueError(f"S has {S.shape[1]} columns for {len(numbers)} numbers; give a column for each")
    if not np.all(np.isfinite(S)):
        bad = [n.name for n, c in zip(numbers, S.T, strict=True) if not np.all(np.isfinite(c))]
        raise ValueError(
            f"the slopes with respect to {listed(bad)} are not finite; begin elsewhere, shorten the windows"
        )
    steps = np.array([n.step for n in numbers])
    U = S if physical is None else np.linalg.solve(physical.T, S.T).T * steps
    priors = np.diag([0.0 if n.prior is None else n.step / n.prior for n in numbers])
    return np.asarray(np.linalg.qr(np.concatenate([U, priors]), mode="r"))


def _directions(G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values and, as rows, their directions."""
    _, s, V = np.linalg.svd(G)
    return np.concatenate([s, np.zeros(len(V) - len(s))]), V


def _groups(U: np.ndarray, T: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Independent defects: which numbers, and a basis of the null space in these alone, with few members each."""
    G = U / T
    s, V = _directions(G) if U.shape[1] else (np.zeros(0), np.zeros((0, 0)))
    rows, pivots = echelon(V[s <= 1])
    sets: list[list[np.ndarray]] = []
    for w in (_thinned(G, row, pivot) for row, pivot in zip(rows, pivots, strict=True)):
        near = [x for x in sets if np.any(w[np.any(x, axis=0)])]
        sets = [x for x in sets if not any(x is y for y in near)] + [[w, *(v for x in near for v in x)]]
    groups = []
    for together in sets:
        members = np.flatnonzero(np.any(together, axis=0))
        few = len(together) > 1 and len(members) <= 10
        basis = np.array(_sparsest(G, T, members, together) if few else together)[:, members] / T[members]
        first = basis[np.arange(len(basis)), np.argmax(basis != 0, axis=1)]
        groups.append((members, basis * (np.sign(first) / np.abs(basis).max(axis=1))[:, None]))
    return sorted(groups, key=lambda group: group[0][0])


def _thinned(G: np.ndarray, w: np.ndarray, pivot: int) -> np.ndarray:
    """A null direction with as few members as explain the pivot: those go that are not needed."""

    def without(gone: np.ndarray) -> np.ndarray:
        """The direction nearest to null without these; as it was where that is none."""
        kept = (w != 0) & ~gone
        kept[pivot] = False
        trial = np.zeros(len(w))
        trial[pivot] = 1.0
        trial[kept] = np.linalg.lstsq(G[:, kept], -G[:, pivot], rcond=None)[0]
        return trial if np.linalg.norm(G @ trial) <= np.linalg.norm(trial) else w

    # Most are rounding, and go at once. Then one by one those without which |G w|^2 grows least.
    for small in (1e-3, 1e-6, 1e-9):
        w = without(np.abs(w) < small * np.abs(w).max())
    while np.count_nonzero(w) > 1:
        others = np.flatnonzero((w != 0) & (np.arange(len(w)) != pivot))
        growth = w[others] ** 2 / np.sum(np.linalg.pinv(G[:, others]) ** 2, axis=1)
        fewer = without(np.arange(len(w)) == others[np.argmin(growth)])
        if fewer is w:
            break
        w = fewer
    return w


def _sparsest(G: np.ndarray, T: np.ndarray, members: np.ndarray, together: list[np.ndarray]) -> list[np.ndarray]:
    """The basis with the fewest members of each direction, and among equals the one of small whole numbers: greedy."""
    chosen: list[np.ndarray] = []
    for size in range(2, len(members) + 1):
        found = []
        for subset in combinations(members, size):
            if any(set(np.flatnonzero(w)) <= set(subset) for w in chosen):
                continue
            s, V = _directions(G[:, subset])
            if s[-1] <= 1:
                w = np.zeros(len(T))
                w[list(subset)] = V[-1]
                found.append(w)
        for w in sorted(found, key=lambda w: whole((w / T)[w != 0]) is None):
            if np.linalg.matrix_rank(np.array([*chosen, w]), tol=1e-6) > len(chosen):
                chosen.append(w)
            if len(chosen) == len(together):
                return chosen
    return together


def _weak(known: Sequence[tuple[Number, float]], weak: float, share: float) -> Iterator[Weak]:
    for n, deviation in known:
        low, high = (np.log(x) if x > 0 else -np.inf for x in (n.lower, n.upper)) if n.log else (n.lower, n.upper)
        width = high - low if n.log else (high - low) / n.size
        if n.prior is not None and deviation > 0.9 * n.prior:
            yield Weak(n, deviation, "hardly less than by its prior alone")
        elif deviation > weak * n.step:
            yield Weak(n, deviation, "which says little" if n.log else f"beside an ordinary size of {n.size:.3g}")
        elif deviation > share * width * n.step:
            yield Weak(n, deviation, f"much of the range from {n.lower:.3g} to {n.upper:.3g}")
