"""XLA's foreign-function interface: compiled code as a target that XLA's own programs can call on the CPU.

XLA calls a handler with a call frame, a C struct that names the buffers of arguments and results. Ours is
written here as LLVM text with the offsets of the structs in the header that jaxlib ships, `c_api.h`. It collects
the addresses, takes the last result as scratch memory (so that it needs no allocation and is safe in any thread),
and calls the kernel. The text depends only on how many buffers there are: the kernel stands in a variable.
"""

import ctypes
import re
import threading
from pathlib import Path
from typing import Any

import jax

from .compile import Compiled, compile_text
from .kernel import Kernel

MAJOR = 0
"""The major version of the interface for which the offsets below hold; minor versions only append fields."""

ALIGNMENT = 64

_registered: dict[str, tuple[Compiled, Kernel]] = {}
"""Handlers and their kernels. XLA keeps the addresses, so they live until the process ends."""
_lock = threading.Lock()


def register(kernel: Kernel, inputs: int, outputs: int, rows: bool) -> str:
    """Name under which XLA finds the kernel.

    It is the kernel's own, so that it means the same in every process: JAX may keep compiled XLA programs on disk,
    and these refer to targets by name. With `rows` the kernel is of a batch, and the number of rows is the call's
    only attribute.
    """
    name = f"hybridsim.{kernel.identity}"
    with _lock:
        if name not in _registered:
            handler = compile_text(handler_text(inputs, outputs, rows, header_version()), "handler")
            engine: Any = handler.engine
            ctypes.c_uint64.from_address(engine.get_global_value_address("kernel")).value = kernel.compiled.address
            target = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(handler.address)
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(target), platform="cpu")
            _registered[name] = handler, kernel
    return name


def header_version() -> tuple[int, int]:
    """The version of the interface in the installed jaxlib."""
    text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text()
    major, minor = (int(re.findall(rf"#define XLA_FFI_API_{part} (\d+)", text)[0]) for part in ("MAJOR", "MINOR"))
    if major != MAJOR:
        raise RuntimeError(
            f"jaxlib's foreign-function interface has version {major}.{minor}, but HybridSim knows version {MAJOR}; "
            "call native functions outside of JAX, or install an older jaxlib"
        )
    return major, minor


def handler_text(inputs: int, outputs: int, rows: bool, version: tuple[int, int]) -> str:
    """LLVM text of `XLA_FFI_Error *handler(XLA_FFI_CallFrame *frame)`."""
    arguments = "ptr %in, ptr %out, ptr %scratch" + (", i64 0, i64 %rows" if rows else "")
    return "\n".join(
        [
            "@kernel = global ptr null",
            f'@message = internal constant [{len(_MESSAGE) + 1} x i8] c"{_MESSAGE}\\00"',
            "define ptr @handler(ptr %frame) nounwind {",
            "entry:",
            *_read("extension", "ptr", "frame", 8),
            "  %asked = icmp ne ptr %extension, null",
            "  br i1 %asked, label %query, label %check",
            *_answer(version),
            *_check(inputs, outputs),
            "run:",
            f"  %in = alloca [{max(inputs, 1)} x ptr]",
            f"  %out = alloca [{max(outputs, 1)} x ptr]",
            *(line for k in range(inputs) for line in _collect("in", "args", k)),
            *(line for k in range(outputs + 1) for line in _collect("out", "results", k, is_last=k == outputs)),
            *_aligned(f"data.out{outputs}"),
            "  %function = load ptr, ptr @kernel",
            *(_batch_call(arguments) if rows else [f"  call void %function({arguments})", "  ret ptr null"]),
            "}",
        ]
    )


_MESSAGE = "HybridSim: a native function was called with a wrong number of buffers"


def _read(name: str, type: str, struct: str, offset: int) -> list[str]:
    """A field of a struct."""
    return [f"  %at.{name} = getelementptr i8, ptr %{struct}, i64 {offset}", f"  %{name} = load {type}, ptr %at.{name}"]


def _write(type: str, value: int | str, struct: str, offset: int) -> list[str]:
    place = f"%in.{struct}.{offset}"
    return [f"  {place} = getelementptr i8, ptr %{struct}, i64 {offset}", f"  store {type} {value}, ptr {place}"]


def _answer(version: tuple[int, int]) -> list[str]:
    """XLA_FFI_Metadata_Extension: which version of the interface the handler was made for, and no traits."""
    return [
        "query:",
        *_read("kind", "i32", "extension", 8),
        "  %known = icmp eq i32 %kind, 1",
        "  br i1 %known, label %answer, label %check",
        "answer:",
        *_read("metadata", "ptr", "extension", 24),
        *_write("i64", 24, "metadata", 8),  # api_version: struct_size, extension_start, major, minor
        *_write("ptr", "null", "metadata", 16),
        *_write("i32", version[0], "metadata", 24),
        *_write("i32", version[1], "metadata", 28),
        *_write("i32", 0, "metadata", 32),
        "  ret ptr null",
    ]


def _check(inputs: int, outputs: int) -> list[str]:
    """Numbers of buffers; if they are wrong, an error made by XLA_FFI_Error_Create with code INTERNAL."""
    return [
        "check:",
        *_read("input_count", "i64", "frame", 56),
        *_read("args", "ptr", "frame", 72),
        *_read("output_count", "i64", "frame", 96),
        *_read("results", "ptr", "frame", 112),
        f"  %fits_in = icmp eq i64 %input_count, {inputs}",
        f"  %fits_out = icmp eq i64 %output_count, {outputs + 1}",
        "  %fits = and i1 %fits_in, %fits_out",
        "  br i1 %fits, label %run, label %wrong",
        "wrong:",
        "  %error = alloca [32 x i8]",
        *_write("i64", 28, "error", 0),
        *_write("ptr", "null", "error", 8),
        *_write("ptr", "@message", "error", 16),
        *_write("i32", 13, "error", 24),
        *_read("api", "ptr", "frame", 16),
        *_read("create", "ptr", "api", 48),
        "  %made = call ptr %create(ptr %error)",
        "  ret ptr %made",
    ]


def _collect(table: str, source: str, k: int, is_last: bool = False) -> list[str]:
    """The data of one XLA_FFI_Buffer into a table of addresses; the last result is scratch."""
    name = f"{table}{k}"
    lines = [*_read(f"buffer.{name}", "ptr", source, 8 * k), *_read(f"data.{name}", "ptr", f"buffer.{name}", 24)]
    return lines if is_last else [*lines, *_write("ptr", f"%data.{name}", table, 8 * k)]


def _aligned(scratch: str) -> list[str]:
    """The scratch memory from its first aligned place on."""
    return [
        f"  %given = ptrtoint ptr %{scratch} to i64",
        f"  %beyond = add i64 %given, {ALIGNMENT - 1}",
        f"  %start = and i64 %beyond, {-ALIGNMENT}",
        "  %scratch = inttoptr i64 %start to ptr",
    ]


def _batch_call(arguments: str) -> list[str]:
    """The first attribute, an XLA_FFI_Scalar, points to the number of rows; none, and there is nothing to do."""
    return [
        *_read("attributes", "ptr", "frame", 160),
        *_read("scalar", "ptr", "attributes", 0),
        *_read("value", "ptr", "scalar", 8),
        "  %rows = load i64, ptr %value",
        "  %some = icmp sgt i64 %rows, 0",
        "  br i1 %some, label %work, label %done",
        "work:",
        f"  call void %function({arguments})",
        "  br label %done",
        "done:",
        "  ret ptr null",
    ]
