"""Numbers of shapes, planes, pairs and limits by path: they go into the model, keep to their bounds, and are found again."""

import jax
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.identify import Free, Parameters, places, prepare
from hybridsim.identify.estimates import numbers
from hybridsim.identify.identifiability import identifiability

from .test_problem import agree

OUTLINE = np.array([[0.05, -0.03, 0], [0.04, 0.04, 0], [-0.05, 0.02, 0]])
KINDS = {
    "box": ((0.05, 0.04, 0.03), ("size.x", "size.y", "size.z")),
    "sphere": (0.05, ("radius",)),
    "capsule": ((0.03, 0.05), ("radius", "half_length")),
    "cylinder": ((0.03, 0.05), ("radius", "half_length")),
    "ellipsoid": ((0.05, 0.04, 0.03), ("size.x", "size.y", "size.z")),
    "elliptic": ((0.05, 0.04, 0.03), ("size.x", "size.y", "size.z")),
    "prism": (0.02, ("half_length",)),
    "points": ((), ()),
}


def body(kind="box", size=(0.05, 0.04, 0.03), **numbers) -> hs.Model:
    """A shape called "body" on a floor called "ground" that leans."""
    points = OUTLINE if kind in ("points", "prism") else None
    geom = hs.Geom(kind, size, (0.01, 0, 0), (0.8, 0.6, 0, 0), points=points, name="body")
    link = hs.free_body(hs.Link("body", 0.4, (0, 0, 0), 8e-4, (geom,)))
    return hs.with_contacts(hs.world(link, hs.ground(0.1, normal=(0.6, 0, 0.8))), **numbers)


class TestShapes:
    @pytest.mark.parametrize("kind", KINDS)
    def test_sizes_have_the_names_of_their_kind(self, kind):
        size, expected = KINDS[kind]
        model = body(kind, size)
        chosen = Parameters(model, ["shape/body/*"])
        own = tuple(name.removeprefix("shape/body/") for name in chosen.names)
        assert own == (*expected, *(f"{what}.{axis}" for what in ("position", "rotation") for axis in "xyz"))
        values = chosen.values(np.zeros(chosen.size))[: len(expected)]
        np.testing.assert_array_equal(values, np.ravel(size))
        units = {unit for p in chosen.list for unit in p.units}
        assert units == {"m", "rad"}

    @pytest.mark.parametrize("kind", KINDS)
    def test_one_factor_for_all_lengths(self, kind):
        model = body(kind, KINDS[kind][0])
        chosen = Parameters(model, ["shape/body/*_factor"])
        assert chosen.names == (f"shape/body/{'outline' if kind == 'prism' else 'size'}_factor",)
        other = chosen.model(np.array([np.log(1.5)])).geometry
        np.testing.assert_allclose(other.size[0], model.geometry.size[0] * (1 if kind == "prism" else 1.5))
        np.testing.assert_allclose(other.points[0], 1.5 * model.geometry.points[0])
        np.testing.assert_array_equal(other.size[1], model.geometry.size[1])

    def test_a_rotation_is_a_vector_in_the_axes_of_the_link(self):
        model = body()
        chosen = Parameters(model, ["shape/body/rotation"])
        z = np.array([0.3, -0.2, 0.5])
        expected = Rotation.from_rotvec(z) * Rotation.from_quat(model.geometry.quaternion[0], scalar_first=True)
        for found in (chosen.model(z), jax.jit(chosen.model)(z)):
            np.testing.assert_allclose(np.linalg.norm(found.geometry.quaternion[0]), 1.0, rtol=1e-12)
            turned = Rotation.from_quat(np.array(found.geometry.quaternion[0]), scalar_first=True)
            np.testing.assert_allclose(turned.as_matrix(), expected.as_matrix(), atol=1e-12)
        np.testing.assert_array_equal(chosen.model(np.zeros(3)).geometry.quaternion, model.geometry.quaternion)

    def test_single_axes_of_a_rotation(self):
        chosen = Parameters(body(), ["shape/body/rotation.x", "shape/body/rotation.z"])
        z = np.array([1e-4, 2e-4])
        whole = Parameters(body(), ["shape/body/rotation"]).model(np.array([1e-4, 0, 2e-4]))
        for found in (chosen.model(z), jax.jit(chosen.model)(z)):
            np.testing.assert_allclose(found.geometry.quaternion, whole.geometry.quaternion, atol=2e-8)
        with pytest.raises(ValueError, match=r"shape/body/rotation is chosen by 'shape/body/rotation.x' and again"):
            Parameters(body(), ["shape/body/rotation.x", "shape/body/rotation"])

    def test_height_and_tilt_of_a_plane(self):
        """Along its normal, and about two axes across it; where it was it still passes through."""
        model = body()
        chosen = Parameters(model, ["shape/ground/*"])
        assert chosen.names == ("shape/ground/height", "shape/ground/tilt.x", "shape/ground/tilt.y")
        assert [p.units[0] for p in chosen.list] == ["m", "rad"]
        normal, before = np.array([0.6, 0, 0.8]), model.geometry.position[1]
        np.testing.assert_allclose(chosen.values(np.zeros(3)), [0.08, 0, 0], atol=1e-15)
        higher = chosen.model(np.array([(0.10 - 0.08) / 0.08, 0, 0])).geometry
        np.testing.assert_allclose(higher.position[1], before + 0.02 * normal, atol=1e-15)
        for k, axis in enumerate(([0.8, 0, -0.6], [0, 1, 0])):
            tilted = chosen.model(0.3 * np.eye(3)[1 + k]).geometry
            np.testing.assert_array_equal(tilted.position[1], before)
            now = Rotation.from_quat(tilted.quaternion[1], scalar_first=True).apply([0, 0, 1])
            np.testing.assert_allclose(now, Rotation.from_rotvec(0.3 * np.array(axis)).apply(normal), atol=1e-12)

    @pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (1e-9, 0, 1), (-0.2, 0.3, -0.1)])
    def test_whatever_the_plane(self, normal):
        chosen = Parameters(hs.world(hs.ground(0.1, normal), hs.chain(1)), ["shape/ground/tilt"])
        axes = np.array(chosen.list[0].groups[0][0].change.axes)
        np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(axes @ normal, 0, atol=1e-9)

    def test_edges_of_a_cube_are_one_number(self):
        chosen = Parameters(body(size=(0.05,) * 3), [Free("shape/body/size.[xyz]", start=0.06, tied=True)])
        np.testing.assert_allclose(chosen.model(np.zeros(1)).geometry.size[0], 0.06)

    def test_a_shape_is_one_however_many_it_touches(self):
        balls = [hs.solid(name, 1.0, "sphere", 0.1) for name in "ab"]
        joints = [hs.Joint(f"{ball.name}_free", "free", "world", ball.name) for ball in balls]
        model = hs.world(hs.build(balls, joints), hs.ground())
        assert len(model.contacts.pairs) == 3
        assert Parameters(model, ["shape/*/radius"]).names == ("shape/a/sphere/radius", "shape/b/sphere/radius")


class TestBounds:
    @pytest.mark.parametrize("what", ["restitution", "position_gain", "velocity_gain"])
    def test_fractions(self, what):
        chosen = Parameters(body(**{what: 0.5}), [f"contact/*/{what}"])
        np.testing.assert_allclose([chosen.values(z)[0] for z in chosen.bounds()], [0, 1])
        tighter = Parameters(body(**{what: 0.5}), [Free(f"contact/*/{what}", lower=0.2, upper=5)])
        np.testing.assert_allclose([tighter.values(z)[0] for z in tighter.bounds()], [0.2, 1])

    def test_an_exponent_is_at_least_one(self):
        chosen = Parameters(body(), ["contact/*/exponent"])
        np.testing.assert_allclose(chosen.values(chosen.bounds()[0]), 1.0)

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(
            ValueError, match=r"restitution can only be between 0.0 and 1.0, but is to be between 2 and"
        ):
            Parameters(body(), [Free("contact/*/restitution", lower=2)])

    @pytest.mark.parametrize(
        ("field", "unit"),
        [("friction", "1"), ("softness", "1/kg"), ("stiffness", "N/m^exponent"), ("transition_speed", "m/s")],
    )
    def test_every_number_of_a_pair(self, field, unit):
        model = body()
        setup = Parameters(model, []).base
        place = places(setup)[f"contact/body/ground/{field}"]
        assert place.unit == unit
        assert place.value(setup) == getattr(model.contacts, field)[0]


class TestLimits:
    ARM = hs.chain(2, length=0.4, lower=-0.5, upper=0.6)

    def test_they_have_paths(self):
        chosen = Parameters(self.ARM, ["limit/joint2/*"])
        assert chosen.names == tuple(
            f"limit/joint2/{name}"
            for name in (
                *("lower", "upper", "restitution", "position_gain", "velocity_gain", "softness"),
                *("stiffness", "dissipation"),
            )
        )
        assert chosen.list[0].units == ("rad",)
        np.testing.assert_array_equal(chosen.values(np.zeros(8))[:2], [-0.5, 0.6])
        changed = Parameters(self.ARM, [Free("limit/*/upper", start=0.7, tied=True)]).model(np.zeros(1))
        np.testing.assert_array_equal(changed.joints.upper, [0.7, 0.7])

    def test_without_contact_they_have_no_effect(self):
        log = hs.Trajectory(0.01 * np.arange(101), np.zeros((101, 2)), run="still")
        with pytest.raises(ValueError, match=r"limit/joint1/upper is free, but without contact .*hs.Impulses\(\)"):
            hs.fit(self.ARM, log, "limit/joint1/upper", contact=None)


def test_a_base_that_leans():
    chosen = Parameters(hs.chain(1), ["joint/joint1/rotation.x"])
    turned = Rotation.from_quat(chosen.model(np.array([0.1])).joints.quaternion[0], scalar_first=True)
    np.testing.assert_allclose(turned.as_rotvec(), [0.1, 0, 0], atol=1e-15)


def test_words_about_what_only_a_sum_shows():
    """A ball that is dropped tells where its centre turns round: radius and height together."""
    chosen = Parameters(body("sphere", 0.05), ["shape/body/radius", "shape/ground/height"])
    z = np.array([0.1, 0.3])
    found = identifiability(np.array([[1.0, 1.0]]) @ chosen.slopes(z) / 1e-4, numbers(chosen, z), chosen.slopes(z))
    assert "only the sum shape/body/radius + shape/ground/height is determined" in found.words()


NOISE = 2e-4


def tosses(model: hs.Model, count: int, dt: float, steps: int, turned: bool) -> list[hs.Trajectory]:
    """Measured poses of a body that is thrown, slides and bounces."""
    run = hs.native.jit(lambda model, q, qd: hs.rollout(model, (q, qd), dt=dt, steps=steps))
    rng, logs = np.random.default_rng(0), []
    for i in range(count):
        turn = rng.standard_normal(4) if turned else np.array([1.0, 0, 0, 0])
        q = np.concatenate([[0, 0, 0.12 + 0.04 * turned + 0.04 * rng.random()], turn / np.linalg.norm(turn)])
        along = (-1, 1, 2) if turned else (1.5, 2.5, 2)
        qd = np.concatenate([rng.uniform(-8, 8, 3), rng.uniform(*along), [rng.uniform(-1, 0)]])
        made = run(model, q, qd)
        measured = np.array(made.q) + NOISE * rng.standard_normal(made.q.shape)
        logs.append(hs.Trajectory(dt * np.arange(steps + 1), measured, np.array(made.qd), run=f"toss {i}"))
    return logs


def thrown(kind, size, height, friction, restitution) -> hs.Model:
    link = hs.Link("body", 0.37, (0, 0, 0), 4e-4 if kind == "sphere" else 8.1e-4, (hs.Geom(kind, size, name="body"),))
    scene = hs.world(hs.free_body(link), hs.ground(height))
    return hs.with_contacts(scene, friction=friction, restitution=restitution)


def assert_within(fit: hs.Fit, truth: dict[str, float], deviation: dict[str, float]) -> None:
    for name, value in truth.items():
        found = fit[name]
        assert found.lower < value < found.upper, found
        assert found.deviation < deviation[name], found


@pytest.mark.slow
def test_slopes_of_the_cost():
    """Normal equations, reverse mode and differences agree for a capsule that lies on a soft ground that leans."""
    model = body("capsule", (0.03, 0.05), friction=0.3, stiffness=5e3, dissipation=5e3, transition_speed=0.1)
    soft = hs.Springs(friction=hs.Coulomb())
    start = np.array([0.02, 0, 0.16, 0.8, 0.6, 0, 0]), np.array([1.0, 2.0, -1.0, 0.5, 0.2, -0.5])
    made = hs.native.jit(lambda: hs.rollout(model, start, dt=1e-3, steps=120, contact=soft))()
    log = hs.Trajectory(1e-2 * np.arange(13), np.asarray(made.q)[::10], np.asarray(made.qd)[::10], run="a")
    free = ["shape/body/radius", "shape/body/half_length", "shape/body/rotation.x", "shape/body/rotation.z"]
    free += [
        "shape/ground/*",
        Free("contact/*/stiffness", prior=(6e3, 1e3)),
        "contact/*/dissipation",
        "contact/*/friction",
    ]
    agree(prepare(model, log, free, window=0.1, substeps=10, contact=soft, compare={"position": 1e-2}), rtol=2e-5)


def test_a_ball_is_found_again():
    """What bounces tells restitution and the sum of radius and height; what slides friction; what rolls the radius."""
    logs = tosses(thrown("sphere", 0.0524, 0.012, 0.18, 0.45), 4, 2.5e-3, 160, turned=False)
    free = ["shape/body/radius", "shape/ground/height", "contact/*/friction", "contact/*/restitution"]
    guess = thrown("sphere", 0.05, 0.0, 0.1, 0.3)
    fit = hs.fit(guess, logs, free, window=0.4, horizons=(0.15,), compare={"position": NOISE})
    names = (
        "shape/body/radius",
        "shape/ground/height",
        "contact/body/ground/friction",
        "contact/body/ground/restitution",
    )
    assert_within(
        fit,
        dict(zip(names, (0.0524, 0.012, 0.18, 0.45), strict=True)),
        dict(zip(names, (2e-4, 3e-4, 1e-3, 2e-3), strict=True)),
    )
    assert fit.model.geometry.size[0, 0] == fit["shape/body/radius"].value
    assert fit.model.geometry.position[1, 2] == fit["shape/ground/height"].value


@pytest.mark.slow
def test_a_cube_is_found_again():
    logs = tosses(thrown("box", (0.0524,) * 3, 0.012, 0.18, 0.25), 8, 2e-3, 200, turned=True)
    free = [
        Free("shape/body/size.[xyz]", tied=True),
        "shape/ground/height",
        "contact/*/friction",
        "contact/*/restitution",
    ]
    guess = thrown("box", (0.05,) * 3, 0.0, 0.3, 0.1)
    fit = hs.fit(guess, logs, free, window=0.4, horizons=(0.1, 0.2), compare={"position": NOISE})
    names = (
        "shape/body/size.[xyz]",
        "shape/ground/height",
        "contact/body/ground/friction",
        "contact/body/ground/restitution",
    )
    assert_within(
        fit,
        dict(zip(names, (0.0524, 0.012, 0.18, 0.25), strict=True)),
        dict(zip(names, (5e-4, 1e-3, 5e-3, 1e-2), strict=True)),
    )
