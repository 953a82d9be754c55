"""Bringing inputs and outputs of networks to the size of one, by numbers fixed from data."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np

from ..contact import Contact, Impulses
from ..model import Model, State
from ..model.checks import POSITIVE
from ..model.names import Recording, unmarked
from ..simulate import Rollout
from ..simulate.control import as_control
from ..simulate.integrators import SemiImplicitEuler
from ..simulate.step import advance, as_state, assemble
from ..spatial import Array
from .acting import Acting, Networks, sites_of, with_sites

States = State | Rollout | tuple[Array, Array]


def normalised(
    model: Model,
    states: States,
    controls: Array | None = None,
    outputs: Mapping[str, float | Array] | None = None,
    contact: Contact | None = Impulses(),
) -> Model:
    """The model whose networks see inputs of mean zero and spread one over the given states.

    `states` holds q and qd with any axes before the last; `controls`, if the model is driven, one row for each of them.
    Outputs have the size that `outputs` says for their name, else the spread of the variable itself over the states, else
    one. What networks compute changes, so normalise before training. The numbers are saved with the model and are not
    trained.
    """
    if not sites_of(model):
        raise ValueError("this model has no networks to be normalised; blueprint.graft(model) puts them in")
    q, qd = (states.q, states.qd) if isinstance(states, State | Rollout) else states
    q, qd = _rows("q", q, model.nq), _rows("qd", qd, model.nv)
    if len(q) != len(qd) or not len(q):
        raise ValueError(f"there are {len(q)} rows of q and {len(qd)} of qd; give equally many, and at least one")
    if controls is not None:
        controls = _rows("controls", controls, np.shape(controls)[-1])
        if len(controls) != len(q):
            raise ValueError(f"there are {len(q)} states but {len(controls)} rows of controls; give one for each state")
    names = tuple({wire.name for site in sites_of(model) for wire in site.plan.outputs})
    inputs, plain = jax.jit(jax.vmap(lambda q, qd, u: _seen(model, q, qd, u, names, contact)))(q, qd, controls)
    given = {} if outputs is None else dict(outputs)
    if unknown := set(given) - set(names):
        raise ValueError(f"no network acts on {', '.join(sorted(unknown))}; they act on: {', '.join(sorted(names))}")
    for name, size in given.items():
        POSITIVE.check(f"normalised: the size of {name}", size)
    sites = []
    for i, site in enumerate(sites_of(model)):
        gains = [
            np.broadcast_to(given[wire.name], wire.places.shape[1])
            if wire.name in given
            else _spread(np.asarray(plain[wire.name]).reshape(len(q), -1)[:, wire.places.array])
            for wire in site.plan.outputs
        ]
        samples = np.asarray(inputs[i], dtype=float).reshape(len(q) * site.plan.rows, site.plan.signature.input_size)
        network = site.network.normalised(samples, np.concatenate(gains).astype(float))
        sites.append(replace(site, network=network))
    return with_sites(model, sites)


def _rows(what: str, values: Array, size: int) -> np.ndarray:
    values = np.asarray(values)
    if values.shape[-1:] != (size,) or not np.all(np.isfinite(values)):
        raise ValueError(
            f"{what} must be finite numbers, {size} in a row, but has the shape {values.shape} and "
            f"{np.sum(~np.isfinite(values))} that are not finite"
        )
    return values.reshape(-1, size)


def _seen(model: Model, q, qd, control, names: tuple[str, ...], contact: Contact | None):
    """What every network sees in one step, and the outputs without any network."""
    state = as_state(model, (q, qd))
    networks = cast(Networks, model.augmentation)
    acting = Acting(networks, networks.memory(state.q.dtype), unmarked)
    alone = Recording(unmarked, names)
    for marks in (acting, alone):
        arguments = (
            as_control(model, control, driven=False),
            jnp.zeros(()),
            model.timestep,
            SemiImplicitEuler(),
            contact,
        )
        advance(model, assemble(model), state, *arguments, marks)
    return [acting.inputs[i] for i in range(len(networks.sites))], alone.values


def _spread(values: np.ndarray) -> np.ndarray:
    """Of each column over samples and rows; one where nothing varies."""
    spread = values.reshape(-1, values.shape[-1]).std(axis=0)
    return np.where(spread > 1e-9, spread, 1.0)
