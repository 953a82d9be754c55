"""A problem of identification: residuals between measured and simulated motion, their cost, and its derivatives."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from ..contact import Contact
from ..simulate import Integrator
from .compiled import Compiled, compiled
from .losses import SQUARES, Loss
from .measured import Measured
from .motion import Motion, Simulated, Window, window_of
from .normal import Normal
from .parameters import Parameters


@dataclass(frozen=True, eq=False)
class Whole:
    """More parameters than are searched: the rest stays as it is, and what was compiled for all serves any part of them."""

    parameters: Parameters
    index: np.ndarray
    """Where in the whole those that are searched lie."""
    z: np.ndarray
    """Of all."""


_CHUNK = 8e6
"""Numbers of derivatives that are held at once."""
Residuals = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Problem:
    """A search for z, the parameters, and s, the own numbers of each window: how far its start is from the measured one."""

    parameters: Parameters
    data: Measured
    integrator: Integrator
    contact: Contact | None = None
    substeps: int = 1
    own_start: bool = True
    loss: Loss = SQUARES
    jump: float | None = None
    """Multiple shooting: the standard deviation of the jump of a state from the end of a window to the start of the next;
    None: windows are not joined."""
    whole: Whole | None = None
    """Of which `parameters` are a part."""

    def __reduce__(self):
        """Compiled functions stay behind; the other process compiles its own, or finds them on disk."""
        given = self.parameters, self.data, self.integrator, self.contact, self.substeps, self.own_start, self.loss
        return type(self), (*given, self.jump, self.whole)

    @property
    def _all(self) -> Parameters:
        """Those for which the code is compiled."""
        return self.parameters if self.whole is None else self.whole.parameters

    def part(self, parameters: Parameters, z: Float[np.ndarray, " size"]) -> "Problem":
        """A search for some of the parameters only, which have the same names; the others stay at z."""
        names = {name: i for i, name in enumerate(self.parameters.names)}
        index = np.array([names[name] for name in parameters.names], dtype=int)
        some = replace(self, parameters=parameters, whole=Whole(self.parameters, index, z))
        some.__dict__["_compiled"] = self._compiled
        return some

    @cached_property
    def _compiled(self) -> Compiled:
        data = self.data
        motion = Motion(
            self._all.local,
            data.dt,
            data.margin,
            data.control_kind,
            tuple(data.values),
            self.integrator,
            self.contact,
            self.substeps,
            self.own_start,
        )
        return compiled(motion, self.loss, self._all.columns is not None)

    @property
    def motion(self) -> Motion:
        return self._compiled.motion

    @property
    def size(self) -> int:
        return self.parameters.size

    @property
    def own(self) -> int:
        return self.motion.own

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.parameters.bounds()

    def zeros(self) -> tuple[np.ndarray, np.ndarray]:
        """Where a search begins: parameters as in the model, starts as measured."""
        return np.zeros(self.size), np.zeros((len(self.data), self.own))

    def with_data(self, data: Measured) -> "Problem":
        """Of other windows; what is compiled is kept where it can be."""
        other = replace(self, data=data)
        if (data.dt, data.margin) == (self.data.dt, self.data.margin):
            other.__dict__["_compiled"] = self._compiled
        return other

    def scaled(self, factor: float) -> "Problem":
        """At another level of noise: residuals, and where the loss bends, times a factor."""
        loss = self.loss.scaled(factor)
        data = self.data.scaled(factor)
        return self.with_data(data) if loss == self.loss else replace(self, data=data, loss=loss)

    # Simulated motion and its distance from the measured one

    def simulated(self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"]) -> Simulated:
        return self._made(self._local(z), s, window_of(self.data))

    def _made(self, x: np.ndarray, s: np.ndarray, window: Window) -> Simulated:
        """As long as what is compared."""
        states, controls, values, between = (np.asarray(a) for a in self._compiled.run(x, s, window))
        steps = self.data.steps
        return Simulated(
            states[:, : steps + 1], controls[:, :steps], values[:, :steps], between[:, : steps * self.substeps + 1]
        )

    @cached_property
    def _columns(self) -> np.ndarray | None:
        """Of each window, where in the vector its local parameters are; None where they are the same for all."""
        if self._all.columns is None:
            return None
        return self._all.columns[[self._all.runs.index(run) for run in self.data.runs]]

    def _local(self, z: np.ndarray) -> np.ndarray:
        """Physical values as the windows see them: of all, or one row for each."""
        x = self.parameters.values(z)
        if self.whole is not None:
            own, x = x, self.whole.parameters.values(self.whole.z)
            x[self.whole.index] = own
        return x if self._columns is None else x[self._columns]

    def _chain(self, z: np.ndarray) -> np.ndarray:
        """Slopes of local physical values by z: of all windows, or one matrix for each."""
        slopes = self.parameters.slopes(z)
        if self.whole is not None:
            own, slopes = slopes, np.zeros((self.whole.parameters.size, self.size))
            slopes[self.whole.index] = own
        return slopes if self._columns is None else slopes[self._columns]

    def residuals(self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"]) -> Residuals:
        """Simulated minus measured, in the units of what is compared; 0 where nothing was measured."""
        return self._differences(self._local(z), self.data, self.simulated(z, s))

    def differences(self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"]) -> np.ndarray:
        """Positions that sensors would show of the simulated motion, minus those that they did show."""
        shown = self._all.local.sensed(self._local(z), self.simulated(z, s).states)
        return shown["position"] - self.data.q

    def _differences(self, x: np.ndarray, data: Measured, made: Simulated) -> Residuals:
        shown = self._all.local.sensed(x, made.states)
        found, begin = {}, 0
        for name, weight in data.weights.items():
            if name in shown:
                difference = shown[name] - (data.q if name == "position" else data.qd)
            else:
                width = data.values[name].shape[-1]
                difference, begin = made.values[..., begin : begin + width] - data.values[name], begin + width
            found[name] = np.where(weight > 0, difference, 0.0)
        return found

    def cost(self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"]) -> float:
        """Of all residuals; infinite where a motion is not finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            made = self.simulated(z, s)
            found = self._differences(self._local(z), self.data, made)
            total = sum(float(np.sum(self.loss.cost(self.data.weights[n] * r))) for n, r in found.items())
            total += 0.5 * float(np.sum(self._prior(z)[0] ** 2)) + 0.5 * float(np.sum(self._jumps(made) ** 2))
        return total if np.isfinite(total) else np.inf

    def costs(
        self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"]
    ) -> Float[np.ndarray, " windows"]:
        """Of the residuals of each window."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.residuals(z, s)
            total = np.zeros(len(self.data))
            for name, r in found.items():
                total += self.loss.cost(self.data.weights[name] * r).sum(axis=(1, 2))
        return np.where(np.isfinite(total), total, np.inf)

    def _prior(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of what is known beforehand, and their slopes."""
        index, mean, deviation = self.parameters.prior()
        if not len(index):
            return np.zeros(0), np.zeros((0, self.size))
        x = self.parameters.values(z)
        return (x[index] - mean) / deviation, self.parameters.slopes(z)[index] / deviation[:, None]

    @cached_property
    def _joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Windows of which the second begins where the first ends."""
        if self.jump is None or not self.own:
            return np.zeros(0, int), np.zeros(0, int)
        after = np.flatnonzero(self.data.follows >= 0)
        return self.data.follows[after], after

    def _jumps(self, made: Simulated) -> np.ndarray:
        before, after = self._joints
        size = self.motion.model.nq + self.motion.model.nv
        jump = 1.0 if self.jump is None else self.jump
        return np.asarray(made.states[before, -1, :size] - made.states[after, 0, :size]) / jump

    # Normal equations

    def rows(
        self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"], held: Sequence[int] = ()
    ) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Some windows after others: weighted residuals r, their slopes by z and by own numbers, and those of their ends.
        Slopes by what is `held` are not wanted, and zero."""
        every_x, every_chain, m = self._local(z), self._chain(z), self.own
        every_chain[..., list(held)] = 0.0
        # Of more parameters than are searched only those that count.
        chosen = np.flatnonzero(np.any(every_chain != 0, axis=(0, 2) if every_chain.ndim == 3 else 1))
        every_chain, local = every_chain[..., chosen, :], len(chosen)
        data, motion = self.data, self.motion
        wide = data.steps * self.substeps * (m + every_x.shape[-1]) * (2 * motion.model.nv + 2)
        several = max(1, int(_CHUNK / max(wide, 1)))
        for first in range(0, len(data), several):
            part = slice(first, min(first + several, len(data)))
            some = data[part]
            x, chain = (every_x, every_chain) if self._columns is None else (every_x[part], every_chain[part])
            window = window_of(some)
            made = self._made(x, s[part], window)
            slopes = self._compiled.sensitivity.along(x, s[part], window, made, chosen)
            ends = np.stack([np.concatenate([slopes[n][:, k] for n in ("start", "velocity")], axis=1) for k in (0, -1)])
            differences, begin, r, J = self._differences(x, some, made), 0, [], []
            for name, weight in some.weights.items():
                slope = slopes.get(name)
                if slope is None:
                    width = some.values[name].shape[-1]
                    slope, begin = slopes["values"][:, :, begin : begin + width], begin + width
                weighted = weight * differences[name]
                pull = np.sqrt(self.loss.weight(weighted))
                r.append((pull * weighted).reshape(len(some), -1))
                J.append(((pull * weight)[..., None] * slope).reshape(len(some), -1, m + local))
            J = np.concatenate(J, axis=1)
            yield part, np.concatenate(r, axis=1), J[..., m:] @ chain, J[..., :m], _chained(ends, m, chain)

    def normal(
        self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"], held: Sequence[int] = ()
    ) -> Normal:
        """Normal equations of the whole at this point; of what is `held`, zeros."""
        count, m, n = len(self.data), self.own, self.size
        A, g = np.zeros((n, n)), np.zeros(n)
        B, C, h = np.zeros((count, n, m)), np.zeros((count, m, m)), np.zeros((count, m))
        ends = np.zeros((2, count, self.motion.model.nq + self.motion.model.nv, m + n))
        with np.errstate(over="ignore", invalid="ignore"):
            for part, r, J, K, at_ends in self.rows(z, s, held):
                flat = J.reshape(r.size, n)
                A += flat.T @ flat
                g += flat.T @ r.ravel()
                Kt = K.transpose(0, 2, 1)
                B[part], C[part] = (Kt @ J).transpose(0, 2, 1), Kt @ K
                h[part] = (Kt @ r[..., None])[..., 0]
                ends[:, part] = at_ends
            r, J = self._prior(z)
            A, g = A + J.T @ J, g + J.T @ r
            E = self._join(z, s, ends, A, g, B, C, h)
            return Normal(self.cost(z, s), A, g, B, C, h, E)

    def _join(self, z, s, ends, A, g, B, C, h) -> dict[tuple[int, int], np.ndarray]:
        """Adds what jumps contribute, and returns the blocks between windows."""
        before, after = self._joints
        if not len(before):
            return {}
        m, E = self.own, {}
        for i, j, r in zip(before, after, self._jumps(self.simulated(z, s)), strict=True):
            end, start = ends[1, i] / self.jump, ends[0, j] / self.jump
            J, K, L = end[:, m:] - start[:, m:], end[:, :m], -start[:, :m]
            A += J.T @ J
            g += J.T @ r
            for w, own in ((i, K), (j, L)):
                B[w] += J.T @ own
                C[w] += own.T @ own
                h[w] += own.T @ r
            E[int(i), int(j)] = K.T @ L
        return E

    def root(self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"]) -> Float[np.ndarray, "k size"]:
        """A matrix R with R^T R the information about the parameters, the windows' own numbers taken out of it.

        Found by orthogonal projections: a product J^T J would hide what is known below 1e-8.
        """
        R = self._prior(z)[1]
        for _, _, J, K, _ in self.rows(z, s):
            if self.own:
                scaled = K / np.maximum(np.linalg.norm(K, axis=1, keepdims=True), 1e-300)
                Q = np.linalg.qr(scaled)[0]
                for _ in range(2):
                    J = J - Q @ (Q.transpose(0, 2, 1) @ J)
            R = np.asarray(np.linalg.qr(np.concatenate([R, J.reshape(J.shape[0] * J.shape[1], self.size)]), mode="r"))
        return R

    # Gradient for methods that want no normal equations

    def gradient(
        self, z: Float[np.ndarray, " size"], s: Float[np.ndarray, "windows own"], chosen: np.ndarray | None = None
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Cost and its slopes by reverse mode; of the chosen windows only, and then without jumps between them."""
        if chosen is not None and self.whole is not None:
            normal = self.with_data(self.data[chosen]).normal(z, s[chosen])
            r, J = self._prior(z)
            less = 1 - len(chosen) / len(self.data)
            return normal.cost - less * 0.5 * float(np.sum(r**2)), normal.g - less * (J.T @ r), normal.h
        if chosen is None and (len(self._joints[0]) or self.whole is not None):
            normal = self.normal(z, s)
            return normal.cost, normal.g, normal.h
        data = self.data if chosen is None else self.data[chosen]
        own = s if chosen is None else s[chosen]
        columns = self._columns if chosen is None or self._columns is None else self._columns[chosen]
        local = z if columns is None else z[columns]
        values, (by_z, by_own) = self._compiled.value_and_gradient(local, own, *_compared(data))
        r, J = self._prior(z)
        share = len(data) / len(self.data)
        cost = float(np.sum(values)) + share * 0.5 * float(np.sum(r**2))
        return cost, self._gathered(by_z, columns) + share * (J.T @ r), np.asarray(by_own)

    def _gathered(self, by_local: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
        """The sum over windows of slopes by local parameters, as slopes by all."""
        if columns is None:
            return np.sum(by_local, axis=0)
        total = np.zeros(self.size)
        np.add.at(total, columns, by_local)
        return total

    def gradients(
        self, z: Float[np.ndarray, "many size"], s: Float[np.ndarray, "many windows own"]
    ) -> tuple[Float[np.ndarray, " many"], Float[np.ndarray, "many size"], Float[np.ndarray, "many windows own"]]:
        """Costs and slopes at many points at once; windows are taken as not joined."""
        many, count = len(z), len(self.data)
        every = np.tile(np.arange(count), many)
        rows = _compared(self.data[every])
        own = s.reshape(many * count, self.own)
        each = np.repeat(z, count, axis=0)
        columns = self._columns
        local = each if columns is None else np.take_along_axis(each, np.tile(columns, (many, 1)), axis=1)
        values, (by_z, by_own) = self._compiled.values_and_gradients(local, own, *rows)
        costs = np.asarray(values).reshape(many, count).sum(axis=1)
        by_z = np.asarray(by_z).reshape(many, count, -1)
        slopes = np.stack([self._gathered(by_z[i], columns) for i in range(many)])
        if len(self.parameters.prior()[0]):
            for i in range(many):
                r, J = self._prior(z[i])
                costs[i] += 0.5 * np.sum(r**2)
                slopes[i] += J.T @ r
        return costs, slopes, np.asarray(by_own).reshape(s.shape)


def _compared(data: Measured) -> tuple[Window, dict[str, np.ndarray], dict[str, np.ndarray]]:
    """What the cost of a window is computed from: what drives it, what was measured, and the weights."""
    measured = {"position": data.q, "velocity": data.qd, **data.values}
    measured = {name: measured[name] for name in data.weights}
    weights = {name: np.broadcast_to(w, measured[name].shape) for name, w in data.weights.items()}
    window = window_of(data)
    if window.prescribed is not None:
        rows = data.prescribed.shape[1] // (data.controls.shape[1] - 2 * data.margin) * data.steps
        window = window._replace(prescribed=data.prescribed[:, :rows])
    return window._replace(controls=data.controls[:, : data.steps + 2 * data.margin]), measured, weights


def _chained(ends: np.ndarray, m: int, chain: np.ndarray) -> np.ndarray:
    return np.concatenate([ends[..., :m], ends[..., m:] @ chain], axis=-1)
