"""LLVM in process: text in, address of a function out; object code is kept on disk for the next process."""

import ctypes
import threading
import time
from dataclasses import dataclass
from typing import NamedTuple

import llvmlite.binding as llvm
from llvmlite import __version__ as llvmlite_version

from .cache import key_of, read, write
from .target import target
from .uninterrupted import uninterrupted

_LOCK = threading.Lock()

_SEARCHES = {
    # LLVM moves loads into the blocks that need them, and for each looks for stores in all blocks between. With blocks of more
    # instructions than this it does not. The gradient of a thrown cube over the ground took 16 of 22 s so, and runs no slower.
    "machine-sink-load-instrs-threshold": "200",
    # Loads that could leave their loops, and stores that nothing reads: how many others are asked whether they are in the way.
    # Buffers of ours do not overlap, which the first answers tell. Passes over contact programs take half the time so.
    "licm-mssa-optimization-cap": "5",
    "memssa-check-limit": "10",
    "dse-memoryssa-scanlimit": "15",
    "dse-memoryssa-walklimit": "10",
    "disable-licm-promotion": "true",
}
"""How long LLVM searches for what makes little of our code faster."""
for _option, _value in _SEARCHES.items():
    llvm.set_option("hybridsim", f"-{_option}={_value}")


@dataclass(frozen=True)
class Compiled:
    """Machine code that lives as long as this does."""

    address: int
    engine: object
    seconds: float
    from_disk: bool


def host_lanes() -> int:
    """How many doubles a vector register holds, of the processor that is compiled for."""
    return target().lanes


def compile_text(text: str, name: str, optimise: int = 2) -> Compiled:
    """Compile a module, or take its object code from disk."""
    key = object_key(text, optimise)
    return load(key, name) or _compile(text, name, optimise, key)


def object_key(text: str, optimise: int) -> str:
    """The name on disk of a module's object code."""
    return key_of(text, str(optimise), *versions())


@uninterrupted
def load(key: str, name: str) -> Compiled | None:
    """The function `name` of object code on disk, if it is there."""
    started = time.perf_counter()
    code = read(key)
    if code is None:
        return None
    with _LOCK:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(0))
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        address = engine.get_function_address(name)
    # Without the function it would be called at address 0.
    return Compiled(address, engine, time.perf_counter() - started, True) if address else None


LONG, VERY_LONG = 30_000, 100_000
"""Lines of LLVM text from which on less effort is made.

The Hessian of a step of twelve links has 115,000 lines. At level 2 it took 20.3 s to compile, 15.9 s without vectorised
loops, and ran in 56 us; at level 1, 12.8 s and 54 us; with machine code of level 0, 7.4 s and 103 us.
"""


class Effort(NamedTuple):
    """What LLVM does for speed. Results are the same to the last bit whatever it does."""

    passes: int
    """Level of the passes over the program."""
    vectorise: bool
    """Whether loops over arrays are computed several numbers at a time."""
    machine: int
    """Level of making machine code."""


def effort(text: str, optimise: int) -> Effort:
    """Less for long programs, unless the highest level is asked for."""
    lines, less = text.count("\n"), min(optimise, 1)
    if optimise == 3 or lines <= LONG:
        return Effort(optimise, optimise > 1, optimise)
    return Effort(less, False, less if lines <= VERY_LONG else 0)


@uninterrupted
def _compile(text: str, name: str, optimise: int, key: str) -> Compiled:
    started = time.perf_counter()
    with _LOCK:
        passes_level, vectorise, machine_level = effort(text, optimise)
        machine = _machine(machine_level)
        module = llvm.parse_assembly(text)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=passes_level)
        options.loop_vectorization = vectorise
        options.slp_vectorization = False
        passes = llvm.create_pass_builder(machine, options)
        passes.getModulePassManager().run(module, passes)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.set_object_cache(lambda _, code: write(key, code))
        engine.finalize_object()
        address = engine.get_function_address(name)
    return Compiled(address, engine, time.perf_counter() - started, False)


def pointer(compiled: Compiled, *types):
    """A Python function for machine code; ctypes lets other threads run while it does."""
    return ctypes.CFUNCTYPE(None, *types)(compiled.address)


def _machine(optimise: int):
    """A new one for every compilation: the engine that uses it frees it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    processor = target()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=processor.cpu,
        features=processor.features,
        opt=optimise,
        codemodel="jitdefault",
        jit=True,
    )


def versions() -> list[str]:
    """Of LLVM and of the processor that is compiled for."""
    processor = target()
    return [llvmlite_version, str(llvm.llvm_version_info), processor.cpu, processor.features]
