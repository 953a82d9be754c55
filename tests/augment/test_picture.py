"""The picture of a blueprint: one line for each input and unit whose weights have not vanished."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.augment.structure import Dissipative
from hybridsim.view.blueprint import MOST_INPUTS, MOST_NETWORKS, MOST_UNITS, draw_blueprint

from .test_blueprint import CHAIN, grafted

INPUTS = ("joint.position[*]", "joint.velocity[*]")


def lines(figure, kind: str) -> list[int]:
    """How many of one kind each network has."""
    return [sum(len(c.get_segments()) for c in axes.collections if c.get_gid() == kind) for axes in figure.axes]


def texts(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def with_first(model, change):
    """With other weights in the first layer of the only network."""
    return eqx.tree_at(lambda m: m.augmentation.sites[0].network.first.weight, model, replace_fn=change)


def test_lines_are_the_weights_that_are_not_zero():
    hybrid = grafted(hs.Augment("joint.force", INPUTS, hs.MLP((6, 5)), apply="together"))
    full = draw_blueprint(hybrid)
    assert lines(full, "inputs") == [4 * 6]
    assert lines(full, "weights") == [6 * 5 + 5]

    def sparse(weight):
        weight = np.array(weight)
        weight[:, 1] = 0
        weight[2:, 3] = 0
        return weight

    pruned = draw_blueprint(with_first(hybrid, sparse))
    assert lines(pruned, "inputs") == [6 + 0 + 6 + 2]
    colours = {text.get_text(): text.get_color() for text in pruned.axes[0].texts}
    assert colours["joint.position[joint2]"] != colours["joint.position[joint1]"] == colours["joint.velocity[joint2]"]


def test_width_follows_strength():
    hybrid = grafted(hs.Augment("joint.force", INPUTS, hs.MLP((3,)), apply="together"))
    figure = draw_blueprint(with_first(hybrid, lambda w: np.outer(np.ones(3), [4.0, 2.0, 1.0, 0.5])))
    (drawn,) = (c for c in figure.axes[0].collections if c.get_gid() == "inputs")
    widths = np.asarray(drawn.get_linewidths()).reshape(3, 4)
    assert np.all(np.diff(widths, axis=1) < 0)
    assert np.allclose((widths[:, 1] - widths[:, 2]) / (widths[:, 0] - widths[:, 1]), 0.5)


def test_wide_layers_are_cut_and_say_so():
    figure = draw_blueprint(grafted(hs.Augment("joint.force", INPUTS, hs.MLP((20,)), apply="together")))
    assert lines(figure, "inputs") == [4 * MOST_UNITS]
    assert f"+{20 - MOST_UNITS}" in texts(figure)


def test_of_many_inputs_the_strongest_are_drawn():
    loads = [hs.constant(f"load{i}", 1.0) for i in range(MOST_INPUTS + 2)]
    hybrid = grafted(hs.Augment("joint.force", loads, hs.MLP((3,)), apply="shared"))
    figure = draw_blueprint(with_first(hybrid, lambda w: np.outer(np.ones(3), 1.0 + np.arange(MOST_INPUTS + 2))))
    drawn = set(texts(figure))
    assert "and 2 more" in drawn
    assert {f"constant(load{i})" for i in range(MOST_INPUTS + 2)} - drawn == {"constant(load0)", "constant(load1)"}


class Own(eqx.Module):
    gain: jnp.ndarray

    def __call__(self, x):
        return self.gain * x[:1]


def test_all_kinds_of_networks(tmp_path):
    hybrid = grafted(
        hs.Augment("joint.force", INPUTS, hs.Linear(), apply="together"),
        hs.Augment("joint.force", INPUTS, hs.GRU(3), apply="together", mode="scale"),
        hs.Augment("joint.force", "joint.velocity", hs.LSTM(12), apply="shared"),
        hs.Augment("joint.passive_force", "joint.position", Dissipative(hs.MLP((4,), "tanh")), entities="joint1"),
        hs.Augment("joint.force", ("joint.position", hs.constant("load", 2.0)), Own(jnp.ones(1)), entities="joint2"),
    )
    figure = draw_blueprint(hybrid, tmp_path / "networks.png")
    assert (tmp_path / "networks.png").read_bytes().startswith(b"\x89PNG")
    assert lines(figure, "inputs") == [4, 4 * 3, MOST_UNITS, 4, 2]
    assert lines(figure, "law") == [0, 0, 0, 1, 0]
    assert {"joint.force *= GRU(3)", "memory", "Dissipative", "Own", "constant(load)"} <= set(texts(figure))


def test_many_networks_are_cut_and_networks_that_do_nothing_say_so():
    augment = hs.Augment("joint.force", "joint.velocity", hs.MLP((2,)))
    figure = draw_blueprint(hs.Blueprint(*[augment] * 7).graft(CHAIN))
    assert len(figure.axes) == MOST_NETWORKS
    assert "Not shown: 2 more networks" in figure.texts[0].get_text()
    assert lines(figure, "weights") == [0] * MOST_NETWORKS
    assert any("no effect yet" in text for text in texts(figure))


def test_without_networks_there_is_nothing_to_draw():
    with pytest.raises(hs.ModelError, match=r"no networks in this model .* blueprint\.graft\(model\)"):
        draw_blueprint(CHAIN)
