"""Forces and findings in words."""

import numpy as np
from jaxtyping import Float

from ..identify import Fit
from ..identify.places import INERTIA_FACTOR
from . import menu
from .menu import Entry
from .networks import DRAG, LOADED, ONE_SIDED, PLACED, POSITION


def shape_of(v: Float[np.ndarray, " n"], force: Float[np.ndarray, " n"], unit: str = "N m") -> str:
    """What a force over velocity looks like. `v` is symmetric about zero and the force that of a joint on itself.

    Fitted by c sign(v) + d v + e v |v|, and by how unlike its two halves are.
    """
    far = np.abs(v) > 0.1 * np.max(np.abs(v))
    odd = 0.5 * (force - force[::-1])
    even = 0.5 * (force + force[::-1])
    size = float(np.max(np.abs(force[far]), initial=1e-300))
    parity = "odd" if np.max(np.abs(even[far])) < 0.15 * size else "stronger in one direction"
    x, y = v[far], odd[far]
    terms = np.stack([np.sign(x), x, x * np.abs(x)], axis=1)
    c, d, e = -np.linalg.lstsq(terms, y, rcond=None)[0]
    top = float(np.max(np.abs(v)))
    parts = np.array([c, d * top, e * top**2])
    whole = max(float(np.sum(np.abs(parts))), 1e-300)
    shares = parts / whole
    if shares[0] > 0.75:
        # What it grows by over the speeds seen is little beside its constant part.
        return f"{parity}, saturating: looks like Coulomb friction of {c:.2g} {unit}"
    if shares[1] > 0.75:
        return f"{parity}, proportional: looks like viscous friction of {d:.2g} {unit} s"
    if shares[2] > 0.75:
        return f"{parity}, growing with the square: looks like drag of {e:.2g} {unit} s^2"
    if shares[0] > 0.25 and shares[1] + shares[2] < -0.1:
        return f"{parity}, falling with speed: looks like Stribeck friction of about {c:.2g} {unit}"
    if shares[0] > 0.2 and shares[1] + shares[2] > 0:
        return f"{parity}, a jump and a slope: looks like Coulomb friction of {c:.2g} {unit} with viscous friction"
    return f"{parity}, and like no single law: a network describes it"


def in_doubt(entry: Entry, fit: Fit) -> bool:
    """Whether the numbers of a law are no farther from those of the file than their uncertainty, all of them. What the data
    do not determine at all is another matter: something of its kind is there."""
    own = [e for e in fit.parameters if any(e.name == f.pattern for f in entry.free)]
    within = [e.value == e.start or (np.isfinite(e.deviation) and e.lower <= e.start <= e.upper) for e in own]
    return bool(own) and all(within)


def finding_words(entry: Entry, fit: Fit, shape: str = "") -> str:
    """One sentence. `shape`: what the learned force looks like, where a network has learned it."""
    where = entry.where
    if entry.effect == menu.FRICTION:
        if shape:
            return f"force at joint {where} depends on its velocity, {shape}"
        size = _value(fit, f"joint/{where}/friction")
        return f"force at joint {where} depends on its velocity, odd, saturating: looks like Coulomb friction of {size}"
    if entry.effect == menu.DELAY:
        size = _value(fit, "control/delay", 1e3, "ms")
        if "-" in size.split(" +- ")[0]:
            return f"controls act earlier than if each were held to the next sample: by {size.replace('-', '', 1)}"
        return f"controls act late: a delay of {size}"
    if entry.effect == menu.ZERO:
        found = [e for e in fit.parameters if e.name.startswith(f"sensor/{where}/bias")]
        values = [e.value for e in found]
        if np.ptp(values) < 0.5 * abs(np.mean(values)):
            return f"the zero of the encoder of joint {where} is off by {np.mean(values):+.2g} {found[0].unit} in every run"
        return (
            f"the encoder of joint {where} has another zero in every run: they differ by {np.ptp(values):.2g} "
            f"{found[0].unit} from run to run ({', '.join(f'{x:+.2g}' for x in values)})"
        )
    if entry.effect == menu.ROTOR:
        size = _value(fit, f"joint/{where}/armature")
        return f"joint {where} is slower to speed up than its links alone: looks like a rotor's inertia of {size}"
    if entry.effect == menu.CENTRE:
        link, axis = where.split(", ")
        moved = next((e for e in fit.parameters if e.name == f"link/{link}/com.{axis}"), None)
        told = "" if moved is None else f" by {_millimetres(moved.value - moved.start)}"
        return f"the centre of mass of link {link} is elsewhere along {axis}{told}"
    if entry.effect == menu.INERTIA:
        size = _value(fit, f"link/{where}/{INERTIA_FACTOR}")
        return f"the inertia of link {where} about its centre of mass is {size} that of the file"
    if entry.effect == menu.GAIN:
        return f"the control of {where} is {_value(fit, f'control/{where}/gain', unit='times')} what the log says"
    if entry.effect == menu.BIAS:
        return f"the control of {where} has an offset of {_value(fit, f'control/{where}/bias')}"
    texts = {
        DRAG: f"force at joint {where} grows faster than its velocity: looks like drag",
        ONE_SIDED: f"friction at joint {where} is stronger in one direction",
        LOADED: f"friction at joint {where} grows with the load: looks like a gear",
        PLACED: f"friction at joint {where} depends on its position",
        POSITION: f"force at joint {where} depends on its position: looks like a spring, a cable or an unknown weight",
    }
    return texts.get(entry.effect, f"force at joint {where} depends on the motion of other joints")


def _millimetres(metres: float) -> str:
    return f"{1e3 * metres:+.0f} mm" if abs(metres) > 0.01 else f"{1e3 * metres:+.2g} mm"


def _value(fit: Fit, name: str, factor: float = 1.0, unit: str = "") -> str:
    try:
        estimate = fit[name]
    except KeyError:
        return "unknown size"
    size, unit = f"{factor * estimate.value:.3g}", unit or estimate.unit
    if estimate.note or not np.isfinite(estimate.deviation):
        return f"about {size} {unit} ({estimate.note or 'not determined by the data'})"
    half = 0.5 * (estimate.upper - estimate.lower) * factor
    return f"{size} +- {half:.1g} {unit}".rstrip()
