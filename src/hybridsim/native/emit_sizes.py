"""LLVM text of sizes, and of where arrays lie in one piece of memory, where these depend on lengths."""

from collections.abc import Sequence

from .lengths.affine import Affine, Size

ALIGNMENT = 64
"""Bytes; every array begins at a multiple of it."""


class Sizes:
    """Computes sizes from the lengths, which are numbers of 32 bits at an address."""

    def __init__(self, lines: list[str], lengths: str | None):
        """`lines` of the entry of a function, to which the text is added; the name of the address."""
        self.lines, self._lengths = lines, lengths
        self._known: dict[Affine, str] = {}
        self._count = 0

    def text(self, size: Size) -> str:
        """A number, or the name of a value."""
        if not isinstance(size, Affine):
            return str(size)
        if size not in self._known:
            total = str(size.constant)
            for k, factor in size.factors:
                at = self._define(f"getelementptr i32, ptr {self._lengths}, i64 {k}")
                short = self._define(f"load i32, ptr {at}")
                length = self._define(f"sext i32 {short} to i64")
                total = self._define(f"add i64 {total}, {self._define(f'mul i64 {length}, {factor}')}")
            self._known[size] = total
        return self._known[size]

    def lay_out(self, memory: str, parts: Sequence[tuple[str, Size]], begin: int = 0) -> Size:
        """Name the addresses of arrays of so many bytes, one after the other; the bytes that are enough for all."""
        end: Size = begin
        for name, size in parts:
            if not isinstance(size, Affine):
                end = _rounded_up(end)
                self.lines.append(f"  {name} = getelementptr i8, ptr {memory}, i64 {end}")
                end += size
        at = str(end := _rounded_up(end))
        for name, size in parts:
            if isinstance(size, Affine):
                self.lines.append(f"  {name} = getelementptr i8, ptr {memory}, i64 {at}")
                beyond = self._define(f"add i64 {at}, {self.text(size + (ALIGNMENT - 1))}")
                at = self._define(f"and i64 {beyond}, {-ALIGNMENT}")
                end = end + size + (ALIGNMENT - 1)
        return end

    def _define(self, text: str) -> str:
        self._count += 1
        name = f"%size{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name


def _rounded_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
