"""The gradient of a rollout where XLA has one thread only, in a process of its own.

On programs of tiny operations XLA's threads cost more than they give: on a machine of two cores jax.jit takes about
half as long with one. A comparison with jax.jit as it comes would be partly one with its threads, the more so the
busier the machine is. So this is measured too.
"""

import json
import sys

import jax
from measure import Effort, Timings, in_rounds, prepare_jax, prepare_native
from mechanisms import mechanisms, random_state
from processes import result_of
from rollouts import gradient, numbers


def run(name: str, steps: int, effort: Effort) -> Timings:
    """Native and jax.jit, in rounds as elsewhere."""
    arguments = (name, str(steps), str(effort.rounds), str(effort.at_least))
    return Timings(result_of(__file__, *arguments, NPROC="1"))  # XLA makes as many threads as NPROC says


def _child(name: str, steps: int, effort: Effort) -> Timings:
    """In the new process."""
    model = mechanisms()[name]
    given = (numbers(model), *random_state(model)[:2])
    f = gradient(model, steps)
    _, native = prepare_native(f, *given)
    _, xla = prepare_jax(f, *given)
    return in_rounds({"native": lambda: native(*given), "jax.jit": lambda: xla(*given)}, effort)


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    name, steps, rounds, at_least = sys.argv[1:]
    print(json.dumps(_child(name, int(steps), Effort(int(rounds), float(at_least))).rows))
