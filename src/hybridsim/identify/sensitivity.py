"""How a simulated motion changes with parameters and with its start, by the chain rule along the motion.

One step leads to the next, s' = f(s, x, u). Its derivatives are found at all steps of all windows at once, in the lanes
of vector registers and in threads; what is left is a product of small matrices after another:
ds'/dp = df/ds ds/dp + df/dx dx/dp + df/du du/dp.
"""

from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from ..any_length import any_length
from .motion import Motion, Simulated, Window

_WHOLE = 8
"""Up to so many outputs all rows of a Jacobian are one program; beyond, each is a row of the batch, which compiles faster."""


class Sensitivity:
    """Compiled once for a motion."""

    def __init__(self, motion: Motion, axis: int | None = None):
        """`axis`: 0 where windows have physical values of their own."""
        self.motion, self._axis = motion, axis
        free = motion.parameters
        of_start = ("position_gain", "position_bias", *(["clock"] if motion.model.topology.prescribed else []))
        self._sensors = sorted(i for name in of_start for i, _ in free.of_apparatus(name))
        self._driven = sorted(
            i for name in ("control_gain", "control_bias", "delay") for i, _ in free.of_apparatus(name)
        )
        self._kept = motion.lasting

    @cached_property
    def _start(self):
        from ..native import batch

        sensed = np.array(self._sensors, dtype=int)

        def start(part, own, x, q, qd):
            return self.motion.start(jnp.asarray(x).at[sensed].set(part), own, q, qd)

        axes = (self._axis, 0, self._axis, 0, 0)
        return batch(jax.jacfwd(start, argnums=(0, 1)), in_axes=axes, key=("start", self.motion.content))

    @cached_property
    def _step(self):
        from ..native import batch

        slopes = jax.jacrev(self.motion.step, argnums=(0, 1, 2))
        return batch(slopes, in_axes=(self._axis, 0, 0, 0), key=("step", self.motion.content))

    @cached_property
    def _row_of_step(self):
        from ..native import batch

        def row(x, state, control, time, chosen):
            return jax.vjp(lambda x, state, control: self.motion.step(x, state, control, time), x, state, control)[1](
                chosen
            )

        return batch(row, in_axes=(self._axis, 0, 0, 0, 0), key=("row of step", self.motion.content))

    @cached_property
    def _drive(self):
        from ..native import batch

        driven = np.array(self._driven)

        def controls(part, x, given):
            return self.motion.drive(jnp.asarray(x).at[driven].set(part), given)

        return batch(jax.jacfwd(controls), in_axes=(self._axis, self._axis, 0), key=("drive", self.motion.content))

    @cached_property
    def _chain(self):
        """One column of the derivatives of all states, from that of the first: s' = A s + b."""
        from ..native import batch

        def column(first, by_state, forcing):
            def later(now, step):
                A, b = step
                out = A @ now + b
                return out[: first.shape[0]], out

            with any_length():
                return jax.lax.scan(later, first, (by_state, forcing))[1]

        return batch(column, in_axes=(1, None, 2))

    def along(
        self, x: np.ndarray, own: np.ndarray, window: Window, made: Simulated, chosen: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Of positions, velocities and values, by own numbers and then by the chosen ones of x: (windows, samples, numbers,
        own + chosen)."""
        motion, (count, samples, _) = self.motion, made.states.shape
        ns = len(self._kept)
        nq, nv, m, steps, each = motion.model.nq, motion.model.nv, motion.own, samples - 1, motion.substeps
        by_x, by_state, by_control = self._steps(x, window, made)
        by_x, driven = by_x[..., chosen], np.isin(chosen, self._driven)
        if driven.any():
            slopes = np.asarray(self._drive(x[..., self._driven], x, window.controls))[:, :steps]
            slopes = slopes[..., np.searchsorted(self._driven, chosen[driven])]
            by_x[..., driven] += by_control[..., : slopes.shape[2]] @ np.repeat(slopes, each, axis=1)
        size = len(chosen)
        first = np.zeros((count, ns, m + x.shape[-1]))
        if m or self._sensors:
            by_sensors, by_own = self._start(x[..., self._sensors], own, x, window.q, window.qd)
            by_sensors, by_own = (np.asarray(x)[:, self._kept] for x in (by_sensors, by_own))
            first[..., :m], first[..., m + np.array(self._sensors, dtype=int)] = by_own, by_sensors
        first = np.concatenate([first[..., :m], first[..., m + chosen]], axis=-1)
        states = np.empty((count, samples, nq + nv, m + size))
        values = np.empty((count, steps, made.values.shape[-1], m + size))
        states[:, 0] = first[:, : nq + nv]
        forcing = np.zeros((*by_x.shape[1:3], m + size))
        for w in range(count):
            forcing[..., m:] = by_x[w]
            columns = np.moveaxis(np.asarray(self._chain(first[w], by_state[w], forcing)), 0, -1)
            states[w, 1:], values[w] = columns[each - 1 :: each, : nq + nv], columns[::each, ns:]
        return {
            "start": states[:, :, :nq],
            "position": self._sensed(x, made.states[..., :nq], states[:, :, :nq], chosen),
            "velocity": states[:, :, nq:],
            "values": values,
        }

    def _steps(self, x: np.ndarray, window: Window, made: Simulated) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of every step, without what it only remembers to save time, by x, state and control."""
        motion, (count, samples, ns) = self.motion, made.between.shape
        all_outputs = ns + made.values.shape[-1]
        lasting = np.concatenate([self._kept, np.arange(ns, all_outputs)])
        steps, outputs = samples - 1, len(lasting)
        dt = motion.dt / motion.substeps
        times = (np.asarray(window.time)[:, None] + dt * np.arange(steps)).ravel()
        states = np.ascontiguousarray(made.between[:, :-1]).reshape(count * steps, ns)
        controls = np.repeat(np.asarray(made.controls), motion.substeps, axis=1)
        if window.prescribed is not None:
            controls = np.concatenate([controls, np.asarray(window.prescribed)[:, :steps]], axis=2)
        controls = controls.reshape(count * steps, -1)
        whole = all_outputs <= _WHOLE
        rows_each = steps if whole else steps * outputs
        x = x if self._axis is None else np.repeat(x, rows_each, axis=0)
        if whole:
            found = [np.asarray(part)[:, lasting] for part in self._step(x, states, controls, times)]
        else:
            rows = [np.repeat(array, outputs, axis=0) for array in (states, controls, times)]
            found = self._row_of_step(x, *rows, np.tile(np.eye(all_outputs)[lasting], (count * steps, 1)))
        by_x, by_state, by_control = (
            np.asarray(part).reshape(count, steps, outputs, width)
            for part, width in zip(found, (x.shape[-1], ns, controls.shape[-1]), strict=True)
        )
        return by_x, by_state[..., self._kept], by_control

    def _sensed(self, x: np.ndarray, q: np.ndarray, slopes: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Of what the position sensors show."""
        free, m = self.motion.parameters, self.motion.own
        gain, bias = free.of_apparatus("position_gain"), free.of_apparatus("position_bias")
        if not gain and not bias:
            return slopes
        slopes = free.sensors(x)[0][..., None] * slopes
        place = {int(column): m + k for k, column in enumerate(chosen)}
        for column, i in gain:
            if column in place:
                slopes[:, :, i, place[column]] += q[..., i]
        for column, i in bias:
            if column in place:
                slopes[:, :, i, place[column]] += 1.0
        return slopes
