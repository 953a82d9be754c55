"""Models with all that a file must hold, and how they move."""

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import hybridsim as hs
from augment.weights import shaken
from hybridsim.augment.save.document import as_text, structure_of

FILES = Path(__file__).parents[2] / "load/files"
_WORDS = Path(__file__).parents[3] / "src/hybridsim/assets/two_link_arm.urdf"


def quiet_load(path: Path, **options) -> hs.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)
        return hs.load(path, **options)


@cache
def arm() -> hs.Model:
    """Histories, sines, constants, a memory that is shared, and a network that scales."""
    velocity = "joint.velocity"
    seen = (velocity, hs.cyclic("joint.position[*]"), hs.history("joint.force", 3, every=2), hs.constant("load", 2.5))
    return _hybrid(
        quiet_load(_WORDS),
        hs.Augment("joint.force", seen, hs.MLP((4, 3), "tanh")),
        hs.Augment("joint.friction", hs.previous("joint.acceleration"), hs.GRU(3), apply="shared", mode="scale"),
        hs.Augment("link.mass", "world.time", hs.Linear(bias=False), apply="together"),
    )


@cache
def cube() -> hs.Model:
    """A free joint and contact."""
    body = hs.free_body(hs.solid("cube", 1.0, "box", (0.1, 0.1, 0.1)))
    return _hybrid(
        hs.world(body, hs.ground()),
        hs.Augment("contact.friction", ("contact.sliding_velocity", "contact.depth"), hs.MLP((4,)), mode="scale"),
    )


@cache
def points() -> hs.Model:
    """Points and polygons, each of its own size. Only where annotations are not checked: those of `Geometry.points` say that
    all shapes have equally many."""
    corners = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    polygon = [[0.1, 0, 0], [0, 0.1, 0], [-0.1, -0.1, 0]]
    links = [
        hs.Link("hull", 1.0, inertia=0.01, geoms=[hs.Geom("points", points=corners)]),
        hs.Link("prism", 1.0, inertia=0.01, geoms=[hs.Geom("prism", 0.1, points=polygon, name="säule")]),
    ]
    return hs.world(*(hs.prefixed(hs.free_body(link), f"{link.name}/") for link in links), hs.ground())


@cache
def fingers() -> hs.Model:
    """Joints that copy others."""
    return _hybrid(
        quiet_load(FILES / "hard.urdf"), hs.Augment("joint.damping", "joint.velocity[*]", hs.LSTM(2), apply="together")
    )


@cache
def servos() -> hs.Model:
    """Actuators and every kind of joint of MJCF."""
    return _hybrid(quiet_load(FILES / "servos.xml"), hs.Augment("actuator.force", "actuator.command", hs.MLP((3,))))


@cache
def laws() -> hs.Model:
    """Structures within structures."""
    from hybridsim.augment.structure import Bounded, Dissipative

    network = Bounded(Dissipative(hs.MLP((4,), "tanh")), 7)
    return _hybrid(quiet_load(_WORDS), hs.Augment("joint.force", "joint.position", network))


MODELS: dict[str, Callable[[], hs.Model]] = {f.__name__: f for f in (arm, cube, fingers, servos, laws)} | {
    "plain": lambda: hs.chain(2),
    "empty": hs.ground,
}


def _hybrid(model: hs.Model, *augments: hs.Augment) -> hs.Model:
    return shaken(hs.Blueprint(*augments).graft(model), size=0.1)


def moved(model: hs.Model, steps: int = 20) -> np.ndarray:
    """Where and how fast it goes, from a state that is not its rest."""
    q, qd = model.rest()
    rng = np.random.default_rng(0)
    qd = rng.normal(size=model.nv).astype(qd.dtype)
    controls = rng.normal(size=(steps, model.nu)).astype(qd.dtype) if model.nu else None
    motion = hs.rollout(model, (q, qd), controls, dt=1e-3, steps=steps)
    return np.concatenate([np.asarray(motion.q), np.asarray(motion.qd)], axis=1)


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(content: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def structure(content: dict[str, bytes]) -> dict:
    """A copy of the structure that may be changed."""
    return json.loads(json.dumps(structure_of(content["model.json"], content["numbers.safetensors"])))


def resealed(content: dict[str, bytes], changed: dict | None = None, numbers: bytes | None = None) -> bytes:
    """A file as a stranger could make it: changed, with checksums that agree."""
    changed = structure(content) if changed is None else changed
    numbers = content["numbers.safetensors"] if numbers is None else numbers
    return zipped(content | {"model.json": as_text(changed, numbers), "numbers.safetensors": numbers})
