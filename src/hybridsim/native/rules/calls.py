"""Functions within functions: written out where they are called."""


def _call(name):
    def rule(low, eqn, *args):
        from ..lower import inline

        closed = eqn.params[name]
        given_up = frozenset(k for k in range(len(args)) if low.may_overwrite(k))
        if hasattr(closed, "jaxpr"):
            return inline(low, closed, list(args), given_up)
        return low.evaluate(closed, [], list(args), given_up)

    return rule


def _same(low, eqn, *args):
    """What only tells XLA where and when: the values are the arguments."""
    return list(args)


def _native(low, eqn, *args):
    """A native function that is called by another becomes a part of it."""
    from ..lower import inline

    return inline(low, eqn.params["function"].jaxpr(eqn.params["rows"], eqn.params["shared"]), list(args))


CALLED = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
    "remat": "jaxpr",
    "linear_map": "there",
}
"""Primitives that call a function, and their parameter that is this function."""

CALLS = {
    "native": _native,
    "optimization_barrier": _same,
    "device_put": _same,
    "sharding_constraint": _same,
    **{primitive: _call(parameter) for primitive, parameter in CALLED.items()},
}
