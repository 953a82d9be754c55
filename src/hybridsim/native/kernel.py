"""Machine code with all that a call of it needs, and the note by which it is found on disk."""

import io
import json
from dataclasses import dataclass

import numpy as np

from .compile import Compiled, load
from .lengths.affine import Affine, Size
from .lengths.template import Template


@dataclass(frozen=True)
class Kernel:
    """Machine code, how much memory it wants to work in, and a name that is the same in every process."""

    compiled: Compiled
    scratch: int
    identity: str
    extra: tuple[np.ndarray, ...] = ()
    """Arrays that it reads after its inputs. The last ones are the lengths for which this is the program."""


@dataclass(frozen=True)
class Note:
    """Where machine code is on disk. It may serve programs of many lengths: `extra` says for which this is."""

    code: str
    """The name of the object code; empty where the program cannot be compiled for any lengths."""
    scratch: Size
    identity: str
    extra: tuple[np.ndarray, ...] | None = None
    """None where that is known from elsewhere."""

    def kernel(self, compiled: Compiled, template: Template | None = None) -> Kernel:
        """The kernel that has this code, for the lengths of a template or for those of the note."""
        extra = (self.extra or ()) if template is None else template.extra
        scratch = self.scratch
        if isinstance(scratch, Affine):
            scratch = scratch.at(list(extra)[-1].tolist())
        return Kernel(compiled, scratch, self.identity, extra)

    def load(self, name: str, template: Template | None = None) -> Kernel | None:
        """The kernel, if its code is there; `name` is that of its function."""
        compiled = load(self.code, name)
        return None if compiled is None else self.kernel(compiled, template)

    def encoded(self) -> bytes:
        """As bytes: a line of JSON, then the arrays."""
        scratch = self.scratch
        size = [scratch.constant, scratch.factors] if isinstance(scratch, Affine) else [scratch, []]
        head = {"code": self.code, "scratch": size, "identity": self.identity, "arrays": self.extra is not None}
        file = io.BytesIO()
        if self.extra:
            np.savez(file, allow_pickle=False, **{str(k): x for k, x in enumerate(self.extra)})
        return json.dumps(head).encode() + b"\n" + file.getvalue()

    @staticmethod
    def decoded(data: bytes) -> "Note":
        """The note that was written so."""
        line, _, rest = data.partition(b"\n")
        head = json.loads(line)
        constant, factors = head["scratch"]
        scratch = Affine(tuple((k, factor) for k, factor in factors), constant) if factors else constant
        extra = _arrays(rest) if head["arrays"] else None
        return Note(head["code"], scratch, head["identity"], extra)


def _arrays(data: bytes) -> tuple[np.ndarray, ...]:
    if not data:
        return ()
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        return tuple(found[str(k)] for k in range(len(found.files)))
