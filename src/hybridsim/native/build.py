"""From a jaxpr to machine code, for one input or for a batch in lanes, and for any lengths of its loops where that can be."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from jax.extend import core as jcore

from .batch_driver import driver
from .cache import key_of, read, write
from .compile import Compiled, compile_text, host_lanes, object_key, versions
from .content import UnknownPartError
from .emit import Emitter
from .fingerprint import fingerprint
from .kernel import Kernel, Note
from .lengths.affine import NotGeneralError, Size
from .lengths.template import Template
from .live import scattered
from .pack import pack
from .program import Program, lower
from .rebuild import WIDTH


class Source(ABC):
    """A function of flat arrays, as far as machine code is made of it."""

    optimise: int

    @abstractmethod
    def for_these_lengths(self) -> jcore.ClosedJaxpr:
        """Its jaxpr, which is made when it is needed."""

    @abstractmethod
    def for_any_lengths(self) -> Template | None:
        """The jaxpr for any lengths of its loops, where there are such."""

    @abstractmethod
    def early_fingerprints(self) -> Sequence[Callable[[], str]]:
        """Makers of texts that tell its machine code from all others, without its jaxpr.

        Each may raise an `UnknownPartError`.
        """


def build(source: Source) -> Kernel:
    """kernel(ptr inputs[], ptr outputs[], ptr scratch)"""
    return _Search(source, "kernel", lambda extra: "", kernel_text).kernel()


def build_batch(source: Source, lanes: int, shared: tuple[bool, ...]) -> Kernel:
    """batch(ptr inputs[], ptr outputs[], ptr scratch, i64 begin, i64 end); `shared` inputs are the same for all."""

    def with_extra(extra: int) -> tuple[bool, ...]:
        return shared + (True,) * extra

    def text(program: Program) -> tuple[str, Size]:
        return _batch_text(program, lanes, with_extra(len(program.inputs) - len(shared)))

    return _Search(source, "batch", lambda extra: f"{lanes} {with_extra(extra)}", text).kernel()


MOST_SCATTERED = 0.02
"""Part of a program's values that lanes read or write at places of their own. With more of them the lanes of a batch are computed
one after the other: contact, with a list of what touches in each lane, has 0.08 and took 0.9 (HalfCheetah) to 2.4 times
(Walker2d) as long in eight lanes; programs without such lists have 0."""


def _batch_text(program: Program, lanes: int, shared: tuple[bool, ...]) -> tuple[str, Size]:
    uniform = frozenset(b.index for b, same in zip(program.inputs, shared, strict=True) if same)
    emitter = Emitter(program.graph, lanes, uniform)
    if lanes > 1 and scattered(program.graph, emitter.facts) > MOST_SCATTERED:
        lanes, emitter = 1, _emitter_for_one(program)
    kernel = emitter.function("kernel", program.inputs, program.outputs)
    lengths, workspace = program.graph.lengths, emitter.workspace_size
    batch, scratch = driver(lanes, program.inputs, program.outputs, uniform, lengths, workspace)
    return f"{kernel}\n{batch}", scratch


def _emitter_for_one(program: Program) -> Emitter:
    """Of one input, whose own numbers are put side by side where that pays."""
    packed = pack(program.graph, program.rows) if host_lanes() >= WIDTH else None
    return Emitter(program.graph) if packed is None else Emitter(packed.graph, WIDTH, vectors=packed.vectors)


_alive: WeakValueDictionary[str, Compiled] = WeakValueDictionary()
_notes: dict[str, Note] = {}
"""Machine code for any lengths in this process and its notes, so that it is found where nothing is kept on disk."""


@dataclass(frozen=True)
class _Search:
    """Machine code from disk if the program has been compiled before, else made now.

    On disk a note under each of the program's keys says under which key the object code is, so that nothing needs to be
    lowered to find it.
    """

    source: Source
    name: str
    options: Callable[[int], str]
    """What else the code depends on, by the number of extra inputs."""
    text: Callable[[Program], tuple[str, Size]]

    def kernel(self) -> Kernel:
        """Found under the first key that is known; from now on it is under the others too that were tried before."""
        missing = []
        for maker in self.source.early_fingerprints():
            if (key := self._key(maker, 0)) is not None:
                if (note := self._read(key)) is not None and (kernel := note.load(self.name)) is not None:
                    break
                missing.append(key)
        else:
            note, kernel = self._for_any_lengths() or self._for_these_lengths()
        for key in missing:
            write(key, replace(note, extra=kernel.extra).encoded())
        return kernel

    def _for_any_lengths(self) -> tuple[Note, Kernel] | None:
        """Under the key of the template; None where it cannot be compiled."""
        template = self.source.for_any_lengths()
        if template is None:
            return None
        key = self._key(lambda: f"any lengths {fingerprint(template.closed)}", len(template.extra))
        if key is not None and (note := _notes.get(key) or self._read(key)) is not None:
            if not note.code:
                return None
            compiled = _alive.get(key)
            kernel = note.load(self.name, template) if compiled is None else note.kernel(compiled, template)
            if kernel is not None:
                return self._remembered(key, note, kernel)
        try:
            note, compiled = self._made(template)
        except NotGeneralError:
            if key is not None:
                write(key, Note("", 0, "").encoded())
            return None
        if key is None:
            return note, note.kernel(compiled, template)
        write(key, note.encoded())
        return self._remembered(key, note, note.kernel(compiled, template))

    def _for_these_lengths(self) -> tuple[Note, Kernel]:
        """Under the key of the jaxpr."""
        key = self._key(lambda: fingerprint(self.source.for_these_lengths()), 0)
        if key is not None and (note := self._read(key)) is not None and (kernel := note.load(self.name)) is not None:
            return note, kernel
        note, compiled = self._made(self.source.for_these_lengths())
        if key is not None:
            write(key, note.encoded())
        return note, note.kernel(compiled)

    def _made(self, program: jcore.ClosedJaxpr | Template) -> tuple[Note, Compiled]:
        text, scratch = self.text(lower(program))
        compiled = compile_text(text, self.name, self.source.optimise)
        identity = key_of(text, str(self.source.optimise))[:40]
        return Note(object_key(text, self.source.optimise), scratch, identity), compiled

    def _key(self, fingerprint: Callable[[], str], extra: int) -> str | None:
        """None where nothing tells the program from others for certain."""
        try:
            return key_of(self.name, fingerprint(), self.options(extra), str(self.source.optimise), *versions())
        except UnknownPartError:
            return None

    @staticmethod
    def _read(key: str) -> Note | None:
        data = read(key)
        return None if data is None else Note.decoded(data)

    @staticmethod
    def _remembered(key: str, note: Note, kernel: Kernel) -> tuple[Note, Kernel]:
        _alive[key], _notes[key] = kernel.compiled, note
        return note, kernel


def kernel_text(program: Program) -> tuple[str, Size]:
    """LLVM's text form before LLVM has optimised it, and the size of the scratch memory."""
    emitter = _emitter_for_one(program)
    text = emitter.function("kernel", program.inputs, program.outputs)
    return text.replace("define internal void @kernel", "define void @kernel"), emitter.workspace_size
