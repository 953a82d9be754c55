"""LLVM text of calls: of elementary functions that are not written out, and of the C library."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .emit_values import ValueEmitter


class Called(NamedTuple):
    """An elementary function of numbers, or of vectors with a number for each lane."""

    function: str
    arguments: int
    type: str
    in_lanes: bool

    @property
    def name(self) -> str:
        return f"{self.function}.{self.type}{'.lanes' if self.in_lanes else ''}"


def call(emitter: ValueEmitter, value: int, function: str, r: list[str]) -> None:
    """Of a function that the module defines once, whichever number of calls there are."""
    called = Called(function, len(r), emitter.g.types[value].name, value in emitter.facts.varying)
    emitter.called.add(called)
    T = emitter.type(value)
    emitter.lines.append(f"  %v{value} = call {T} @{called.name}({', '.join(f'{T} {x}' for x in r)})")


def rarely(emitter: ValueEmitter, value: int, name: str, r: list[str]) -> None:
    """r = (condition, usual, *args): the C library's function where the condition holds, else what is usual.

    The call is behind a branch that is almost never taken, so that it costs nothing where it is not needed.
    """
    T, condition, usual = emitter.type(value), r[0], r[1]
    varying = value in emitter.facts.varying
    test = emitter.any(condition) if varying else condition
    cold, go_on, before = emitter.label(), emitter.label(), emitter.block
    emitter.lines.append(f"  br i1 {test}, label %{cold}, label %{go_on}")
    emitter.start(cold)
    exact = _libm_call(emitter, value, name, r[2:], "cold")
    C = emitter.vector("i1") if varying else "i1"
    chosen = emitter.define(T, f"select {C} {condition}, {T} {exact}, {T} {usual}")
    emitter.lines.append(f"  br label %{go_on}")
    emitter.start(go_on)
    emitter.lines.append(f"  %v{value} = phi {T} [ {usual}, %{before} ], [ {chosen}, %{cold} ]")


def libm(emitter: ValueEmitter, value: int, name: str, r: list[str]) -> None:
    emitter.rename_text[value] = _libm_call(emitter, value, name, r, "memory(none)")


def _libm_call(emitter: ValueEmitter, value: int, name: str, r: list[str], attribute: str) -> str:
    """A function of the C library, lane by lane.

    A call without effects may be moved; one behind a branch must not be, or it is made every time.
    """
    T = emitter.g.types[value].llvm
    vector = emitter.vector(T)
    emitter.declared.add(f"declare {T} @{name}({', '.join([T] * len(r))}) nounwind")
    if value not in emitter.facts.varying:
        return emitter.define(T, f"call {T} @{name}({', '.join(f'{T} {x}' for x in r)}) {attribute}")
    result = "poison"
    for lane in range(emitter.lanes):
        args = [emitter.define(T, f"extractelement {vector} {x}, i64 {lane}") for x in r]
        one = emitter.define(T, f"call {T} @{name}({', '.join(f'{T} {x}' for x in args)}) {attribute}")
        result = emitter.define(vector, f"insertelement {vector} {result}, {T} {one}, i64 {lane}")
    return result
