"""Functions within functions: written out where they are called."""


def _call(name):
    def rule(low, eqn, *args):
        from ..lower import inline

        closed = eqn.params[name]
        if hasattr(closed, "jaxpr"):
            return inline(low, closed, list(args))
        return low.evaluate(closed, [], list(args))

    return rule


CALLS = {
    "jit": _call("jaxpr"),
    "pjit": _call("jaxpr"),
    "closed_call": _call("call_jaxpr"),
    "core_call": _call("call_jaxpr"),
    "custom_jvp_call": _call("call_jaxpr"),
    "custom_vjp_call": _call("call_jaxpr"),
    "custom_vjp_call_jaxpr": _call("fun_jaxpr"),
    "checkpoint": _call("jaxpr"),
    "remat2": _call("jaxpr"),
    "remat": _call("jaxpr"),
}
