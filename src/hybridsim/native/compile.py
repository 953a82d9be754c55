"""LLVM in process: text in, address of a function out; object code is kept on disk for the next process."""

import ctypes
import hashlib
import os
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm
from llvmlite import __version__ as llvmlite_version

_LOCK = threading.Lock()
_MAGIC = b"hybridsim object 1\n"


@dataclass(frozen=True)
class Compiled:
    """Machine code that lives as long as this does."""

    address: int
    engine: object
    seconds: float
    from_disk: bool


def host_lanes() -> int:
    """How many doubles a vector register of this machine holds."""
    features = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx") else 2


def compile_text(text: str, name: str, optimise: int = 2) -> Compiled:
    """Compile a module, or take its object code from disk."""
    started = time.perf_counter()
    with _LOCK:
        machine = _machine(optimise)
        module = llvm.parse_assembly(text)
        module.verify()
        key = hashlib.sha256("\0".join([text, str(optimise), *_versions()]).encode()).hexdigest()
        found = _read(key)
        if found is None:
            options = llvm.create_pipeline_tuning_options(speed_level=optimise)
            options.slp_vectorization = False
            passes = llvm.create_pass_builder(machine, options)
            passes.getModulePassManager().run(module, passes)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.set_object_cache(lambda _, code: _write(key, code), lambda _: found)
        engine.finalize_object()
        address = engine.get_function_address(name)
    return Compiled(address, engine, time.perf_counter() - started, found is not None)


def pointer(compiled: Compiled, *types):
    """A Python function for machine code; ctypes lets other threads run while it does."""
    return ctypes.CFUNCTYPE(None, *types)(compiled.address)


def _machine(optimise: int):
    """A new one for every compilation: the engine that uses it frees it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=optimise,
        codemodel="jitdefault",
        jit=True,
    )


def _versions() -> list[str]:
    features = llvm.get_host_cpu_features().flatten()
    return [llvmlite_version, str(llvm.llvm_version_info), llvm.get_host_cpu_name(), features]


def cache_folder() -> Path:
    """HYBRIDSIM_CACHE, or the user's cache folder."""
    given = os.environ.get("HYBRIDSIM_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "hybridsim" / "native"


def _read(key: str) -> bytes | None:
    """Object code, or None where there is none or the file is torn."""
    try:
        content = (cache_folder() / key).read_bytes()
    except OSError:
        return None
    head, digest, code = content[: len(_MAGIC)], content[len(_MAGIC) : len(_MAGIC) + 32], content[len(_MAGIC) + 32 :]
    return code if head == _MAGIC and hashlib.sha256(code).digest() == digest else None


def _write(key: str, code: bytes) -> None:
    """In a temporary file first, so that another process never sees a part. A full disk is no error."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=folder, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(code).digest() + code)
            os.replace(path, folder / key)
        except BaseException:
            os.unlink(path)
            raise
    except OSError:
        return
