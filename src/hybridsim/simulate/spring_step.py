"""Whether a time step is short enough for springs in contact, told before a rollout begins.

A contact point that is `x` deep has the tangent stiffness k n x^(n-1) and the damping d x^n (Hunt and Crossley). Seen
from the contact, the bodies have the inverse inertia A = J M^-1 J^T. With w^2 = k n x^(n-1) A and c = d x^n A a
semi-implicit Euler step of an oscillator stays bounded only while

    2 c dt + (w dt)^2 < 4,

the condition that both eigenvalues of its amplification matrix are in the unit circle. How deep a point will be is not
known beforehand; the depth is taken at which it carries all the weight that may rest on it, or to which a
fall from where it starts would drive it, whichever is deeper.
"""

import warnings
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..contact import Contact, ContactByPair, HuntCrossley, Moment, Springs
from ..contact.points import contact_points, pairs_of_points, table_of_pairs
from ..contact.rows import point_velocities
from ..contact.sharing import point_shares
from ..contact.spring import ExponentialOnset
from ..dynamics import assemble, configuration, expand_q, expand_v, mass_matrix, velocities
from ..model import Model, State, carrier, mechanism_of
from ..spatial import Array, Scalar
from .integrators import ImplicitDamping, Integrator, RungeKutta4, SemiImplicitEuler

_RUNGE_KUTTA_REACH = 2.6
"""Largest modulus of dt times an eigenvalue, in the left half plane, at which the classical method is stable."""
_SAFETY = 0.7
"""Part of the longest stable step that is recommended: masses as contact feels them change along a motion."""


class StepWarning(UserWarning):
    """Steps are too long for what the model has in it, so that results answer for the integrator too."""


@dataclass(frozen=True)
class _Oscillator:
    """A contact, or a joint limit, with the largest w^2 [1/s^2] and c [1/s] that it is expected to have."""

    name: str
    stiffness: float
    damping: float

    def longest_step(self, integrator: Integrator) -> float:
        """[s]"""
        if isinstance(integrator, RungeKutta4):
            return _RUNGE_KUTTA_REACH / max(np.sqrt(self.stiffness), self.damping, 1e-300)
        # The positive root of (w dt)^2 + 2 c dt = 4, written so that w = 0 does no harm.
        c = self.damping
        return 4.0 / max(c + np.sqrt(c * c + 4.0 * self.stiffness), 1e-300)


def warn_of_long_steps(model: Model, state: State, dt: Scalar, integrator: Integrator, contact: Contact | None) -> None:
    """Warn where springs would make a rollout explode. Says nothing of numbers that are being traced."""
    if isinstance(dt, Tracer) or (found := longest_spring_step(model, state, integrator, contact)) is None:
        return
    longest, where = found
    if float(dt) > longest:
        step = f"{_rounded_down(_SAFETY * longest):.1g}"
        warnings.warn(
            f"{explosion(float(dt), where)}; give dt={step}, softer springs or hs.Impulses()", StepWarning, stacklevel=4
        )


def explosion(dt: float, where: str) -> str:
    """What is wrong with a step that is too long."""
    return (
        f"springs may explode: a step of {dt:.3g} s is too long for {where}, by its stiffness, dissipation and masses"
    )


def longest_spring_step(
    model: Model, state: State, integrator: Integrator, contact: Contact | None
) -> tuple[float, str] | None:
    """The longest time step [s] at which springs are expected to be stable, and which of them limits it.

    None where nothing is known: other contact models or integrators than ours, nothing to touch, traced numbers.
    """
    known_integrator = isinstance(integrator, (SemiImplicitEuler, ImplicitDamping, RungeKutta4))
    if not (known_integrator and model.nv) or any(isinstance(x, Tracer) for x in jax.tree.leaves((model, state))):
        return None
    soft, soft_limits = _springs(model, contact)
    if not (soft.any() or soft_limits):
        return None
    stiffest = min(_oscillators(model, state, soft, soft_limits), key=lambda o: o.longest_step(integrator))
    return stiffest.longest_step(integrator), stiffest.name


def _springs(model: Model, contact: Contact | None) -> tuple[np.ndarray, bool]:
    """Which pairs have springs whose law is known here, and whether joint limits have."""

    def known(found: Contact | None) -> bool:
        law = found.normal if isinstance(found, Springs) else None
        return isinstance(law, HuntCrossley) and not isinstance(law.onset, ExponentialOnset)

    pairs = len(model.contacts.pairs)
    by_pair = contact.springs_of(model) if isinstance(contact, ContactByPair) else ((contact,) * pairs, contact)
    return np.array([known(found) for found in by_pair[0]], bool), known(by_pair[1]) and bool(model.limits.freedoms)


def _rounded_down(x: float) -> float:
    digit = 10.0 ** np.floor(np.log10(x))
    return float(np.floor(x / digit) * digit)


class _Geometry(eqx.Module):
    """Contact points, and the inertia behind them."""

    gap: Float[Array, " points"]
    rate: Float[Array, " points"]
    """Of the gap [m/s]."""
    J: Float[Array, "points nv"]
    """From joint velocities to `rate`."""
    M: Float[Array, "nv nv"]


def _geometry(model: Model, q: Array, qd: Array) -> _Geometry:
    mechanism = assemble(model)
    all_q = expand_q(mechanism, q)
    conf = configuration(mechanism, all_q)

    def rates(qd):
        now = Moment(model, mechanism, all_q, qd, conf, velocities(mechanism, all_q, conf, expand_v(mechanism, qd)))
        points = contact_points(now)
        return jnp.sum(points.normal * point_velocities(now, points, now.vel.v), axis=-1), points.distance

    rate, gap = rates(qd)
    return _Geometry(gap, rate, jax.jacfwd(lambda v: rates(v)[0])(qd), mass_matrix(model, q))


def _oscillators(model: Model, state: State, soft: np.ndarray, soft_limits: bool) -> list[_Oscillator]:
    from .. import native  # takes time to import, and springs are rare

    found = native.jit(_geometry)(model, np.asarray(state.q), np.asarray(state.qd))
    inverse = np.linalg.inv(np.asarray(found.M))
    if (yields := model.topology.yields) is not None:
        inverse = np.zeros_like(inverse)
        inverse[np.ix_(yields, yields)] = np.linalg.inv(np.asarray(found.M)[np.ix_(yields, yields)])
    limits = _limit_oscillators(model, inverse) if soft_limits else []
    return [*limits, *(_contact_oscillators(model, found, inverse, soft) if soft.any() else [])]


def _limit_oscillators(model: Model, inverse: np.ndarray) -> list[_Oscillator]:
    """A joint limit is a linear spring; its damping, which grows with depth, is left out."""
    own = {int(v): i for i, v in enumerate(model.topology.own_v)}
    names = [name for j, name in enumerate(model.joint_names) for _ in range(model.topology.kinds[j].nv)]
    return [
        _Oscillator(f"the limit of joint {names[v]!r}", float(k) * inverse[own[v], own[v]], 0.0)
        for v, k in zip(model.limits.freedoms, np.asarray(model.limits.stiffness), strict=True)
    ]


def _contact_oscillators(model: Model, found: _Geometry, inverse: np.ndarray, soft: np.ndarray) -> list[_Oscillator]:
    """One for each soft pair alone, and one for all of them that touch at the start together.

    Bodies rest on each other by whatever pairs there are, so all of them say which weight a soft pair may carry.
    """
    owner, g = pairs_of_points(model), float(np.linalg.norm(np.asarray(model.gravity)))
    k, d, n = (np.asarray(getattr(model.contacts, name))[owner] for name in ("stiffness", "dissipation", "exponent"))
    shares = point_shares(model, table_of_pairs(model))
    if shares is not None:
        k, d = k * np.asarray(shares), d * np.asarray(shares)
    trees = _trees_of_pairs(model)
    masses = _tree_masses(model)
    J, gap = np.asarray(found.J), np.asarray(found.gap)
    A = J @ inverse @ J.T
    diagonal = np.maximum(np.diag(A), 1e-300)

    weight = g * _carried(trees, masses, np.ones(len(trees), dtype=bool))
    nearest = _nearest(gap, owner)
    sharing = np.bincount(owner, nearest, minlength=len(trees))[owner]
    resting = _depth_under(weight[owner] / sharing, k, n)
    depth = np.where(nearest, np.maximum(resting, _impact_depth(found, g, diagonal, k, d, n)), 0.0)
    stiffness, damping = np.where(nearest, k * n * depth ** (n - 1), 0.0), d * depth**n

    names, pairs = model.geometry.names, model.contacts.pairs
    result = []
    for pair in np.flatnonzero(soft):
        a, b = pairs[pair]
        rows = np.flatnonzero(nearest & (owner == pair))
        own = _largest(A, stiffness, rows), _largest(A, damping, rows)
        result.append(_Oscillator(f"the contact of {names[a]!r} with {names[b]!r}", *own))

    touching = np.zeros(len(pairs), dtype=bool)
    touching[owner[gap <= resting]] = True
    rows = np.flatnonzero(nearest & (touching & soft)[owner])
    if len(rows):
        weight = g * _carried(trees, masses, touching)
        resting = _depth_under(weight[owner] / sharing, k, n)
        together = _largest(A, k * n * resting ** (n - 1), rows), _largest(A, d * resting**n, rows)
        deepest = owner[rows[np.argmax((d * resting**n * diagonal)[rows])]]
        a, b = pairs[deepest]
        result.append(_Oscillator(f"the contact of {names[a]!r} with {names[b]!r} under its load", *together))
    return result


def _largest(A: np.ndarray, factors: np.ndarray, rows: np.ndarray) -> float:
    """The largest eigenvalue of A diag(factors), of these rows."""
    root = np.sqrt(factors[rows])
    return float(np.linalg.eigvalsh(root[:, None] * A[np.ix_(rows, rows)] * root)[-1])


def _nearest(gap: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """Which points of each pair would touch first: the corners of the face, edge or corner that points there."""
    first = np.full(owner.max() + 1, np.inf)
    np.minimum.at(first, owner, gap)
    spread = np.zeros_like(first)
    np.maximum.at(spread, owner, gap - first[owner])
    return gap - first[owner] <= 0.05 * spread[owner]


def _depth_under(load: np.ndarray, k: np.ndarray, n: np.ndarray) -> np.ndarray:
    return (load / np.maximum(k, 1e-300)) ** (1 / n)


def _impact_depth(found: _Geometry, g: float, diagonal, k, d, n) -> np.ndarray:
    """How deep a point gets that falls, or flies, from where it is: Hunt and Crossley's spring, integrated once.

    m v dv/dx = -k x^n (1 + a v), a = d/k, from the speed v to rest: k x^(n+1) / (n+1) = m (v/a - log(1 + a v)/a^2).
    """
    rate, gap = np.asarray(found.rate), np.asarray(found.gap)
    v = np.sqrt(np.minimum(rate, 0.0) ** 2 + 2 * g * np.maximum(gap, 0.0))
    a = d / np.maximum(k, 1e-300)
    av = a * v
    # v^2 times a function of a v, with its limit 1/2 where a v is small.
    work = v**2 * np.where(av > 1e-4, (av - np.log1p(av)) / np.maximum(av, 1e-4) ** 2, 0.5)
    return ((n + 1) * work / (diagonal * np.maximum(k, 1e-300))) ** (1 / (n + 1))


def _trees_of_pairs(model: Model) -> list[tuple[int, int]]:
    """The mechanisms of the two shapes of each pair; -1 for what does not move."""

    def tree(link: int) -> int:
        return mechanism_of(model.topology, link) if carrier(model.topology, link) >= 0 else -1

    of = [tree(link) for link in model.geometry.links]
    return [(of[a], of[b]) for a, b in model.contacts.pairs]


def _tree_masses(model: Model) -> dict[int, float]:
    masses: dict[int, float] = {-1: 0.0}
    for link, mass in enumerate(np.asarray(model.links.mass)):
        tree = mechanism_of(model.topology, link)
        masses[tree] = masses.get(tree, 0.0) + float(mass)
    return masses


def _carried(trees: list[tuple[int, int]], masses: dict[int, float], among: np.ndarray) -> np.ndarray:
    """Of each pair the mass of all mechanisms that it may have to carry: those connected by pairs `among` all."""
    group = {tree: tree for tree in masses}

    def root(tree: int) -> int:
        while group[tree] != tree:
            tree = group[tree]
        return tree

    for (a, b), counts in zip(trees, among, strict=True):
        if counts and a >= 0 and b >= 0:
            group[root(a)] = root(b)
    total: dict[int, float] = {}
    for tree, mass in masses.items():
        total[root(tree)] = total.get(root(tree), 0.0) + mass
    return np.array([max(total[root(a)] if a >= 0 else 0.0, total[root(b)] if b >= 0 else 0.0) for a, b in trees])
