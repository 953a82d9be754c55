"""From patterns to parameters: which numbers of a setup they choose, where each starts and how it is counted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..augment.flat import Flat
from ..augment.weights import weights
from .apparatus import Setup
from .free import Free, Parameter
from .place import Place
from .places import matching, places
from .scales import InertiaScale, LinearScale, LogScale


def networks_of(setup: Setup) -> list:
    return weights(setup.model.augmentation)


_INERTIAL = "/inertial"


def resolved(setup: Setup, free: Sequence[Free]) -> Iterator[Parameter]:
    known, taken = places(setup), {}
    for choice in free:
        if choice.pattern == "network":
            yield _weights(setup, choice)
            continue
        whole = choice.patterns[0].endswith(_INERTIAL)
        found: list[tuple[Place, ...]] = []
        for pattern in choice.patterns:
            if pattern.endswith(_INERTIAL) != whole:
                raise ValueError(
                    f"{choice.pattern}: inertias and single numbers cannot be chosen together; use two hs.Free"
                )
            match = matching(known, pattern.removesuffix(_INERTIAL) + "/mass" if whole else pattern)
            found += [_inertial(known, place) if whole else (place,) for place in match]
        for place in (place for group in found for place in group):
            for freedom in place.freedoms():
                if freedom in taken:
                    raise ValueError(f"{place.path} is chosen by {taken[freedom]!r} and again by {choice.pattern!r}")
                taken[freedom] = choice.pattern
        if choice.per_run and any(place.owner != "apparatus" for group in found for place in group):
            raise ValueError(f"{choice.pattern!r} cannot differ from run to run: only sensors and controls can")
        if choice.tied and len({sum(p.size for p in group) for group in found}) > 1:
            raise ValueError(f"{choice.pattern!r} matches numbers of different sizes, which cannot be tied")
        for groups in [tuple(found)] if choice.tied else [(group,) for group in found]:
            yield _parameter(setup, choice, groups, whole)


def _inertial(known: dict[str, Place], mass: Place) -> tuple[Place, ...]:
    link = mass.path.removesuffix("/mass")
    return mass, known[f"{link}/com"], known[f"{link}/inertia"]


def _weights(setup: Setup, free: Free) -> Parameter:
    if setup.model.augmentation is None:
        raise ValueError(
            "'network' is free, but the model has no networks: graft them with hs.Blueprint(...).graft(model)"
        )
    start = Flat(setup, networks_of).vector()
    names = tuple(f"network[{i}]" for i in range(len(start)))
    return Parameter(names, (), LinearScale(start, np.ones(len(start))), free, ("1",) * len(start), True)


def _parameter(setup: Setup, free: Free, groups: tuple[tuple[Place, ...], ...], whole: bool) -> Parameter:
    first = groups[0]
    path = " = ".join(free.patterns) if len(groups) > 1 else first[0].path
    own = np.concatenate([place.value(setup) for place in first])
    if whole:
        if free.start is not None or np.isfinite([free.lower, free.upper]).any():
            raise ValueError(
                f"{path}: bounds and a start of ten numbers at once mean nothing; give them to its mass alone"
            )
        names = tuple(f"{place.path}{label}" for place in first for label in place.labels)
        units = tuple(place.unit for place in first for _ in place.labels)
        return Parameter(names, groups, InertiaScale.of(own), free, units)
    start = own if free.start is None else np.full(len(own), float(free.start))
    free = _within(path, free, [place for group in groups for place in group])
    if np.any(start < free.lower) or np.any(start > free.upper):
        raise ValueError(
            f"{path} starts at {start}, which is not between {free.lower} and {free.upper}; give another start"
        )
    log = free.scale == "log" or (free.scale == "auto" and first[0].kind == "positive")
    if log and not np.all(start > 0):
        raise ValueError(f"{path} starts at {start}, which has no logarithm; give a positive start, or scale='linear'")
    names = tuple(f"{path}{label}" for label in first[0].labels)
    scale = LogScale(start) if log else LinearScale(start, _size(start, free))
    return Parameter(names, groups, scale, free, (first[0].unit,) * len(names))


def _within(path: str, free: Free, chosen: list[Place]) -> Free:
    """With the bounds that physics sets, where they are tighter."""
    least, most = max(place.bounds[0] for place in chosen), min(place.bounds[1] for place in chosen)
    lower, upper = max(free.lower, least), min(free.upper, most)
    if lower > upper:
        raise ValueError(
            f"{path} can only be between {least} and {most}, but is to be between {free.lower} and {free.upper}; "
            "give other bounds"
        )
    return replace(free, lower=lower, upper=upper)


def _size(start: np.ndarray, free: Free) -> np.ndarray:
    """What is a step of ordinary size: by the bounds, else by the value itself."""
    if np.isfinite([free.lower, free.upper]).all():
        return np.full(len(start), (free.upper - free.lower) / 4)
    return np.where(start != 0, np.abs(start), 1.0)
