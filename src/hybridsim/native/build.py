"""From a jaxpr to machine code, for one input or for a batch in lanes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jax.extend import core as jcore

from .batch_driver import driver
from .cache import key_of, read, write
from .compile import Compiled, compile_text, host_lanes, load, object_key, versions
from .content import UnknownPartError
from .emit import Emitter
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
Fingerprints = Sequence[Callable[[], str]]
"""Makers of texts that tell a program from all others, the quickest first; each may raise an `UnknownPartError`."""


def build(closed: Jaxpr, fingerprints: Fingerprints, optimise: int) -> Kernel:
    """kernel(ptr inputs[], ptr outputs[], ptr scratch)"""
    return _found_or_made("kernel", fingerprints, optimise, "", lambda: kernel_text(lower(closed())))


def build_batch(
    closed: Jaxpr, fingerprints: Fingerprints, optimise: int, lanes: int, shared: tuple[bool, ...]
) -> Kernel:
    """batch(ptr inputs[], ptr outputs[], ptr scratch, i64 begin, i64 end); `shared` inputs are the same for all."""
    return _found_or_made(
        "batch", fingerprints, optimise, f"{lanes} {shared}", lambda: _batch_text(lower(closed()), lanes, shared)
    )


def _batch_text(program: Program, lanes: int, shared: tuple[bool, ...]) -> tuple[str, int]:
    uniform = frozenset(b.index for b, same in zip(program.inputs, shared, strict=True) if same)
    emitter = Emitter(program.graph, lanes, uniform)
    kernel = emitter.function("kernel", program.inputs, program.outputs)
    batch, scratch = driver(lanes, program.inputs, program.outputs, uniform, emitter.workspace_size)
    return f"{kernel}\n{batch}", scratch


def _found_or_made(
    name: str, fingerprints: Fingerprints, optimise: int, options: str, make: Callable[[], tuple[str, int]]
) -> Kernel:
    """Machine code from disk if the program has been compiled before; else of the text and scratch size of `make`.

    On disk a note under each of the program's keys says under which key the object code is, so that nothing needs to be
    lowered to find it.
    """
    missing = []
    for fingerprint in fingerprints:
        try:
            key = key_of(name, fingerprint(), options, str(optimise), *versions())
        except UnknownPartError:
            continue
        note = read(key)
        if note is not None and (kernel := _found(note, name)) is not None:
            break
        missing.append(key)
    else:
        text, scratch = make()
        kernel = Kernel(compile_text(text, name, optimise), scratch, key_of(text, str(optimise))[:40])
        note = f"{object_key(text, optimise)} {scratch} {kernel.identity}".encode()
    for key in missing:
        write(key, note)
    return kernel


def _found(note: bytes, name: str) -> Kernel | None:
    """The kernel of which the note tells, if its object code is there."""
    object_name, scratch, identity = note.decode().split()
    compiled = load(object_name, name)
    return None if compiled is None else Kernel(compiled, int(scratch), identity)


def kernel_text(program: Program) -> tuple[str, int]:
    """LLVM's text form before LLVM has optimised it, and the size of the scratch memory."""
    packed = pack(program.graph, program.rows) if host_lanes() >= WIDTH else None
    emitter = Emitter(program.graph) if packed is None else Emitter(packed.graph, WIDTH, vectors=packed.vectors)
    text = emitter.function("kernel", program.inputs, program.outputs)
    return text.replace("define internal void @kernel", "define void @kernel"), emitter.workspace_size
