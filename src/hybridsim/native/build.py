"""From a jaxpr to machine code, for one input or for a batch in lanes."""

from collections.abc import Callable
from dataclasses import dataclass

from jax.extend import core as jcore

from .batch_driver import driver
from .cache import key_of, read, write
from .compile import Compiled, compile_text, host_lanes, load, object_key, versions
from .emit import Emitter
from .fingerprint import UnknownPartError
from .pack import pack
from .program import Program, lower
from .rebuild import WIDTH


@dataclass(frozen=True)
class Kernel:
    """Machine code, how much memory it wants to work in, and a name that is the same in every process."""

    compiled: Compiled
    scratch: int
    identity: str


Jaxpr = Callable[[], jcore.ClosedJaxpr]
"""Makes the jaxpr, which may not be needed."""
Fingerprint = Callable[[], str]
"""A text that tells a program from all others, if possible without its jaxpr; or an `UnknownPartError`."""


def build(closed: Jaxpr, fingerprint: Fingerprint, optimise: int) -> Kernel:
    """kernel(ptr inputs[], ptr outputs[], ptr scratch)"""
    return _found_or_made("kernel", fingerprint, optimise, "", lambda: kernel_text(lower(closed())))


def build_batch(closed: Jaxpr, fingerprint: Fingerprint, optimise: int, lanes: int, shared: tuple[bool, ...]) -> Kernel:
    """batch(ptr inputs[], ptr outputs[], ptr scratch, i64 begin, i64 end); `shared` inputs are the same for all."""
    return _found_or_made(
        "batch", fingerprint, optimise, f"{lanes} {shared}", lambda: _batch_text(lower(closed()), lanes, shared)
    )


def _batch_text(program: Program, lanes: int, shared: tuple[bool, ...]) -> tuple[str, int]:
    uniform = frozenset(b.index for b, same in zip(program.inputs, shared, strict=True) if same)
    emitter = Emitter(program.graph, lanes, uniform)
    kernel = emitter.function("kernel", program.inputs, program.outputs)
    batch, scratch = driver(lanes, program.inputs, program.outputs, uniform, emitter.workspace_size)
    return f"{kernel}\n{batch}", scratch


def _found_or_made(
    name: str, fingerprint: Fingerprint, optimise: int, options: str, make: Callable[[], tuple[str, int]]
) -> Kernel:
    """Machine code from disk if the program has been compiled before; else of the text and scratch size of `make`.

    On disk a note under the program's key says under which key the object code is, so that nothing needs to be
    lowered to find it.
    """
    try:
        key = key_of(name, fingerprint(), options, str(optimise), *versions())
    except UnknownPartError:
        key = None
    if key is not None and (note := read(key)) is not None:
        object_name, scratch, identity = note.decode().split()
        if (compiled := load(object_name, name)) is not None:
            return Kernel(compiled, int(scratch), identity)
    text, scratch = make()
    identity = key_of(text, str(optimise))[:40]
    compiled = compile_text(text, name, optimise)
    if key is not None:
        write(key, f"{object_key(text, optimise)} {scratch} {identity}".encode())
    return Kernel(compiled, scratch, identity)


def kernel_text(program: Program) -> tuple[str, int]:
    """LLVM's text form before LLVM has optimised it, and the size of the scratch memory."""
    packed = pack(program.graph, program.rows) if host_lanes() >= WIDTH else None
    emitter = Emitter(program.graph) if packed is None else Emitter(packed.graph, WIDTH, vectors=packed.vectors)
    text = emitter.function("kernel", program.inputs, program.outputs)
    return text.replace("define internal void @kernel", "define void @kernel"), emitter.workspace_size
