"""One value, one line (or a few) of LLVM's text form."""

import struct

from .emit_calls import Called, call, libm, rarely
from .graph import Buffer, Graph, root
from .graph import memory as memory_of
from .live import Facts, operands
from .types import BOOL, F32, F64, Type

_FLOAT_COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole"}
_SIGNED_COMPARE = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle"}
_UNSIGNED_COMPARE = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule"}
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGER = {
    "add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor",
    "shl": "shl", "lshr": "lshr", "ashr": "ashr",
}  # fmt: skip
_INTRINSICS = {
    "sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "rint": "rint", "round": "round",
    "trunc": "trunc", "copysign": "copysign", "popcount": "ctpop",
}  # fmt: skip
_LIBM = frozenset((
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "exp", "exp2", "expm1", "log", "log1p", "pow", "cbrt", "erf", "erfc", "lgamma", "fmod",
))  # fmt: skip


class ValueEmitter:
    def __init__(self, graph: Graph, facts: Facts, lanes: int, packed: bool = False):
        self.packed = packed
        self.g = graph
        self.facts = facts
        self.lanes = lanes
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.called: set[Called] = set()
        """Elementary functions that are not written out."""
        self.tagged: set[int] = set()
        self.block = "entry"
        self.block_begins = 0
        """Where its lines begin."""
        self.rename: dict[int, int] = {}
        self.rename_text: dict[int, str] = {}
        self._labels = self._temporaries = 0

    # Names and types

    def vector(self, T: str) -> str:
        return f"<{self.lanes} x {T}>"

    def type(self, value: int) -> str:
        T = self.g.types[value].llvm
        return self.vector(T) if value in self.facts.varying else T

    def ref(self, value: int, like: int | None = None, varying: bool | None = None) -> str:
        """A value's name; as a vector where it must be one like another value is."""
        if varying is None:
            varying = (like if like is not None else value) in self.facts.varying
        value = self.rename.get(value, value)
        type = self.g.types[value]
        if value in self.g.constants:
            text = self.literal(self.g.constants[value], type)
            return self.splat_constant(type.llvm, text) if varying else text
        text = self.rename_text.get(value, f"%v{value}")
        if varying and value not in self.facts.varying:
            return self.splat(type.llvm, text)
        return text

    @staticmethod
    def splat_constant(T: str, text: str) -> str:
        return f"splat ({T} {text})"

    def splat(self, T: str, text: str) -> str:
        one = self.define(self.vector(T), f"insertelement {self.vector(T)} poison, {T} {text}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self.define(self.vector(T), f"shufflevector {self.vector(T)} {one}, {self.vector(T)} poison, {zeros}")

    def define(self, _type: str, text: str) -> str:
        self._temporaries += 1
        name = f"%t{self._temporaries}"
        self.lines.append(f"  {name} = {text}".replace("<L x", f"<{self.lanes} x"))
        return name

    def label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block, self.block_begins = label, len(self.lines)

    def any(self, mask: str) -> str:
        """Whether any lane of a mask is set."""
        name = f"llvm.vector.reduce.or.v{self.lanes}i1"
        self.declared.add(f"declare i1 @{name}({self.vector('i1')})")
        return self.define("i1", f"call i1 @{name}({self.vector('i1')} {mask})")

    @staticmethod
    def literal(value, type: Type, memory: bool = False) -> str:
        if type.is_float:
            # LLVM writes numbers of single precision as the double that they equal.
            return f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"
        if type == BOOL:
            return ("1" if value else "0") if memory else ("true" if value else "false")
        return str(int(value))

    # Memory

    @staticmethod
    def memory_type(type: Type) -> str:
        return "i8" if type == BOOL else type.llvm

    def constant_array(self, buffer: Buffer) -> str:
        T = self.memory_type(buffer.type)
        assert buffer.data is not None
        values = ", ".join(f"{T} {self.literal(v, buffer.type, memory=True)}" for v in buffer.data)
        return f"@c{buffer.index} = private unnamed_addr constant [{buffer.size} x {T}] [{values}], align 64"

    def base(self, buffer: Buffer) -> str:
        memory = memory_of(buffer)
        return f"@c{memory.index}" if memory.kind == "constant" else f"%b{memory.index}"

    def tag(self, buffer: Buffer) -> str:
        """Says to LLVM what is different memory, so that it need not keep the order of what is done there."""
        memory = memory_of(buffer)
        self.tagged.add(memory.index)
        return f", !tbaa !{2 * memory.index + 2}"

    def tags(self) -> list[str]:
        """The nodes of metadata that `tag` refers to: a type of its own for each buffer."""
        if not self.tagged:
            return []
        lines = ['!0 = !{!"hybridsim"}']
        for k in sorted(self.tagged):
            lines.append(f'!{2 * k + 1} = !{{!"buffer {k}", !0, i64 0}}')
            lines.append(f"!{2 * k + 2} = !{{!{2 * k + 1}, !{2 * k + 1}, i64 0}}")
        return lines

    def interleaved(self, buffer: Buffer) -> bool:
        memory = root(buffer)
        return (
            self.lanes > 1
            and not self.packed
            and memory.kind != "constant"
            and memory.index not in getattr(self, "uniform", ())
        )

    def load(self, value: int) -> None:
        place, buffer = self.g.args[value]
        T = self.memory_type(buffer.type)
        if place in self.facts.varying:
            text = self.load_each_lane(buffer, T, self.ref(place))
            shape = self.vector(T)
        else:
            shape = self.vector(T) if self.interleaved(buffer) else T
            at = self.define("ptr", f"getelementptr inbounds {shape}, ptr {self.base(buffer)}, i64 {self.ref(place)}")
            text = self.define(shape, f"load {shape}, ptr {at}, align {buffer.type.bits // 8 or 1}{self.tag(buffer)}")
        if buffer.type == BOOL:
            self.lines.append(f"  %v{value} = trunc {shape} {text} to {shape.replace('i8', 'i1')}")
        else:
            self.rename_text[value] = text

    def load_each_lane(self, buffer: Buffer, T: str, places: str) -> str:
        result = "poison"
        for lane in range(self.lanes):
            at = self.lane_address(buffer, T, places, lane)
            one = self.define(T, f"load {T}, ptr {at}{self.tag(buffer)}")
            result = self.define(self.vector(T), f"insertelement {self.vector(T)} {result}, {T} {one}, i64 {lane}")
        return result

    def lane_address(self, buffer: Buffer, T: str, places: str, lane: int) -> str:
        place = self.define("i64", f"extractelement <L x i64> {places}, i64 {lane}")
        if self.interleaved(buffer):
            place = self.define("i64", f"mul i64 {place}, {self.lanes}")
            place = self.define("i64", f"add i64 {place}, {lane}")
        return self.define("ptr", f"getelementptr inbounds {T}, ptr {self.base(buffer)}, i64 {place}")

    def store(self, buffer: Buffer, place: int, value: int, mask: str | None) -> None:
        T = self.memory_type(buffer.type)
        vector = self.interleaved(buffer)
        text = self.ref(value, varying=vector)
        shape = self.vector(T) if vector else T
        if buffer.type == BOOL:
            text = self.define(shape, f"zext {shape.replace('i8', 'i1')} {text} to {shape}")
        if place in self.facts.varying:
            self.store_each_lane(buffer, T, self.ref(place), text, mask)
            return
        at = self.define("ptr", f"getelementptr inbounds {shape}, ptr {self.base(buffer)}, i64 {self.ref(place)}")
        align = buffer.type.bits // 8 or 1
        if mask is not None:
            old = self.define(shape, f"load {shape}, ptr {at}, align {align}{self.tag(buffer)}")
            text = self.define(shape, f"select <L x i1> {mask}, {shape} {text}, {shape} {old}")
        self.lines.append(f"  store {shape} {text}, ptr {at}, align {align}{self.tag(buffer)}")

    def store_each_lane(self, buffer: Buffer, T: str, places: str, text: str, mask: str | None) -> None:
        for lane in range(self.lanes):
            at = self.lane_address(buffer, T, places, lane)
            one = self.define(T, f"extractelement {self.vector(T)} {text}, i64 {lane}")
            if mask is not None:
                mine = self.define("i1", f"extractelement <L x i1> {mask}, i64 {lane}")
                old = self.define(T, f"load {T}, ptr {at}{self.tag(buffer)}")
                one = self.define(T, f"select i1 {mine}, {T} {one}, {T} {old}")
            self.lines.append(f"  store {T} {one}, ptr {at}{self.tag(buffer)}")

    # Arithmetic

    def value(self, value: int) -> None:
        g = self.g
        op, type, T = g.ops[value], g.types[value], self.type(value)
        if op == "load":
            self.load(value)
            return
        if op in ("gather", "lane"):
            self.move(value, op)
            return
        args = operands(g, value)
        source = g.types[args[0]]
        set_to = f"  %v{value} = "
        write = self.lines.append
        r = [self.ref(a, value) for a in args]
        S = self.vector(source.llvm) if value in self.facts.varying else source.llvm
        if op in _SIGNED_COMPARE:
            how = (
                f"fcmp {_FLOAT_COMPARE[op]}"
                if source.is_float
                else f"icmp {(_SIGNED_COMPARE if source.signed else _UNSIGNED_COMPARE)[op]}"
            )
            write(f"{set_to}{how} {S} {r[0]}, {r[1]}")
        elif op == "select":
            C = self.vector("i1") if value in self.facts.varying else "i1"
            write(f"{set_to}select {C} {r[0]}, {T} {r[1]}, {T} {r[2]}")
        elif op == "neg":
            write(f"{set_to}fneg {T} {r[0]}" if type.is_float else f"{set_to}sub {T} {self.zero(value)}, {r[0]}")
        elif op in _FLOAT and type.is_float:
            write(f"{set_to}{_FLOAT[op]} {T} {r[0]}, {r[1]}")
        elif op in _INTEGER and not type.is_float:
            write(f"{set_to}{_INTEGER[op]} {T} {r[0]}, {r[1]}")
        elif op == "not":
            write(f"{set_to}xor {T} {r[0]}, {self.all_ones(value)}")
        elif op in ("max", "min"):
            name = {"max": "maximum", "min": "minimum"}[op] if type.is_float else ("s" if type.signed else "u") + op
            self.intrinsic(value, name, r)
        elif op == "abs" and not type.is_float:
            self.intrinsic(value, "abs", r, (", i1 false", ", i1"))
        elif op in ("fma", "fms", "fnma"):
            self.multiply_add(value, op, r)
        elif op in _INTRINSICS:
            self.intrinsic(value, _INTRINSICS[op], r)
        elif op in _LIBM:
            libm(self, value, op + ("f" if type == F32 else ""), r)
        elif op.startswith("rarely "):
            rarely(self, value, op.removeprefix("rarely "), r)
        elif op.startswith("call "):
            call(self, value, op.removeprefix("call "), r)
        elif op == "bits":
            write(f"{set_to}bitcast {S} {r[0]} to {T}")
        elif op == "cast":
            self.cast(value, source, S, r[0])
        elif op in ("idiv", "rem"):
            self.divide(value, op, r)
        else:
            raise NotImplementedError(f"no LLVM text for the operation {op!r}")

    def move(self, value: int, op: str) -> None:
        """A vector of numbers, or a number of a vector."""
        args, T = operands(self.g, value), self.g.types[value].llvm
        if op == "lane":
            vector = f"{self.vector(T)} {self.ref(args[0])}"
            self.lines.append(f"  %v{value} = extractelement {vector}, i64 {self.g.args[value][1]}")
        elif all(x in self.g.constants for x in args):
            numbers = (f"{T} {self.literal(self.g.constants[x], self.g.types[x])}" for x in args)
            self.rename_text[value] = f"<{', '.join(numbers)}>"
        elif len(set(args)) == 1:
            self.rename_text[value] = self.splat(T, self.ref(args[0]))
        else:
            text = "poison"
            for lane, x in enumerate(args):
                text = self.define("", f"insertelement {self.vector(T)} {text}, {T} {self.ref(x)}, i64 {lane}")
            self.rename_text[value] = text

    def zero(self, value: int) -> str:
        return "zeroinitializer" if value in self.facts.varying else "0"

    def all_ones(self, value: int) -> str:
        text = "true" if self.g.types[value] == BOOL else "-1"
        return self.splat_constant(self.g.types[value].llvm, text) if value in self.facts.varying else text

    def multiply_add(self, value: int, op: str, r: list[str]) -> None:
        T = self.type(value)
        if op == "fnma":  # c - a b
            r[0] = self.define(T, f"fneg {T} {r[0]}")
        elif op == "fms":  # a b - c
            r[2] = self.define(T, f"fneg {T} {r[2]}")
        self.intrinsic(value, "fma", r)

    def suffix(self, value: int) -> str:
        T = self.g.types[value].llvm
        short = {"double": "f64", "float": "f32"}.get(T, T)
        return f"v{self.lanes}{short}" if value in self.facts.varying else short

    def intrinsic(self, value: int, name: str, r: list[str], extra: tuple[str, str] = ("", "")) -> None:
        T, full = self.type(value), f"llvm.{name}.{self.suffix(value)}"
        self.declared.add(f"declare {T} @{full}({', '.join([T] * len(r))}{extra[1]})")
        self.lines.append(f"  %v{value} = call {T} @{full}({', '.join(f'{T} {x}' for x in r)}{extra[0]})")

    def cast(self, value: int, source: Type, S: str, r: str) -> None:
        type, T = self.g.types[value], self.type(value)
        if source.is_float and not type.is_float:
            name = f"llvm.fpto{'s' if type.signed else 'u'}i.sat"
            short = {F64: "f64", F32: "f32"}[source]
            prefix = f"v{self.lanes}" if value in self.facts.varying else ""
            full = f"{name}.{prefix}{type.llvm}.{prefix}{short}"
            self.declared.add(f"declare {T} @{full}({S})")
            self.lines.append(f"  %v{value} = call {T} @{full}({S} {r})")
            return
        if source.is_float:
            how = "fptrunc" if type.bits < source.bits else "fpext"
        elif type.is_float:
            how = "sitofp" if source.signed else "uitofp"
        elif type.bits == source.bits:
            how = "bitcast"
        else:
            how = "trunc" if type.bits < source.bits else ("sext" if source.signed else "zext")
        self.lines.append(f"  %v{value} = {how} {S} {r} to {T}")

    def divide(self, value: int, op: str, r: list[str]) -> None:
        """Integer division without traps, as XLA defines it: x / 0 = -1, x rem 0 = x, no overflow at -1.
        Division of floats with remainder is C's fmod."""
        type, T = self.g.types[value], self.type(value)
        if type.is_float:
            libm(self, value, "fmod" + ("f" if type == F32 else ""), r)
            return
        C = T.replace(type.llvm, "i1")

        def number(n: int) -> str:
            return self.splat_constant(type.llvm, str(n)) if value in self.facts.varying else str(n)

        zero = self.define(C, f"icmp eq {T} {r[1]}, {number(0)}")
        safe = self.define(T, f"select {C} {zero}, {T} {number(1)}, {T} {r[1]}")
        minus = self.define(C, f"icmp eq {T} {r[1]}, {number(-1)}")
        if type.signed:
            safe = self.define(T, f"select {C} {minus}, {T} {number(1)}, {T} {safe}")
        signed = "s" if type.signed else "u"
        if op == "rem":
            rest = self.define(T, f"{signed}rem {T} {r[0]}, {safe}")
            self.lines.append(f"  %v{value} = select {C} {zero}, {T} {r[0]}, {T} {rest}")
            return
        quotient = self.define(T, f"{signed}div {T} {r[0]}, {safe}")
        if type.signed:
            negative = self.define(T, f"sub {T} {number(0)}, {r[0]}")
            quotient = self.define(T, f"select {C} {minus}, {T} {negative}, {T} {quotient}")
        self.lines.append(f"  %v{value} = select {C} {zero}, {T} {number(-1)}, {T} {quotient}")
