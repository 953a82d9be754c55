"""The program as one C file without dependencies: for a robot's controller.

    void NAME(const void *const *in, void *const *out, void *workspace);

It allocates nothing and needs only <math.h>; `NAME_WORKSPACE` says how many bytes of workspace to give.
"""

import math
import re

import numpy as np

from .functions.alone import alone
from .graph import Branch, Buffer, Graph, Loop, Region, Store, root
from .lengths.affine import at_lengths
from .live import facts, operands, read_buffers
from .program import Program
from .types import BOOL, F32, Type

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_KEYWORDS = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for",
    "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof", "static", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "asm", "main",
}  # fmt: skip
_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "and": "&",
    "or": "|",
    "xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
}
_MATH = {
    "abs": "fabs",
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "rint": "rint",
    "round": "round",
    "trunc": "trunc",
    "fma": "fma",
    "copysign": "copysign",
    "lgamma": "lgamma",
}

_PRELUDE = """\
#include <math.h>
#include <stdint.h>
#include <string.h>

/* A comparison that a type's range decides is right, and no mistake. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif

/* Larger and smaller number, NaN if either is; integer division as XLA defines it. */
static inline double hs_max(double a, double b) {{ return a != a || a > b ? a : b; }}
static inline double hs_min(double a, double b) {{ return a != a || a < b ? a : b; }}
static inline int64_t hs_idiv(int64_t a, int64_t b) {{ return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }}
static inline int64_t hs_irem(int64_t a, int64_t b) {{ return b == 0 ? a : b == -1 ? 0 : a % b; }}
static inline uint64_t hs_udiv(uint64_t a, uint64_t b) {{ return b == 0 ? ~(uint64_t)0 : a / b; }}
static inline uint64_t hs_urem(uint64_t a, uint64_t b) {{ return b == 0 ? a : a % b; }}
static inline int64_t hs_toint(double x, double low, double high) {{
  return x != x ? 0 : x <= low ? (int64_t)low : x >= high ? (int64_t)high : (int64_t)x;
}}
static inline uint64_t hs_tounsigned(double x, double high) {{
  return x != x || x <= 0 ? 0 : x >= high ? (high < 0x1p64 ? (uint64_t)high : ~(uint64_t)0) : (uint64_t)x;
}}
static inline int64_t hs_bits(double x) {{ int64_t i; memcpy(&i, &x, 8); return i; }}
static inline double hs_number(int64_t i) {{ double x; memcpy(&x, &i, 8); return x; }}
static inline int32_t hs_bitsf(float x) {{ int32_t i; memcpy(&i, &x, 4); return i; }}
static inline float hs_numberf(int32_t i) {{ float x; memcpy(&x, &i, 4); return x; }}
"""


def c_source(program: Program, name: str = "kernel") -> str:
    """C99 text of a program. `name` must be an identifier that C leaves to its users."""
    if not _IDENTIFIER.fullmatch(name) or name in _KEYWORDS:
        raise ValueError(f"name is {name!r}; a C function is called by letters, digits and _, and not by a word of C")
    return _Writer(program.graph).source(program, name)


def _ctype(type: Type) -> str:
    if type.is_float:
        return "float" if type == F32 else "double"
    return "uint8_t" if type == BOOL else f"{'' if type.signed else 'u'}int{type.bits}_t"


class _Writer:
    def __init__(self, graph: Graph):
        self.g = graph
        self.facts = facts(self.g)
        self.read = read_buffers(self.g)
        self.lines: list[str] = []
        self.indent = 1
        self.rename: dict[int, int] = {}
        self.workspace = 0
        self.called: dict[str, str] = {}
        """Definitions of elementary functions that are not written out, by name."""

    def source(self, program: Program, name: str) -> str:
        setup = []
        for kind, buffers in (("in", program.inputs), ("out", program.outputs)):
            for k, b in enumerate(buffers):
                const = "const " if kind == "in" else ""
                setup.append(f"  {const}{_ctype(b.type)} *const b{b.index} = ({const}{_ctype(b.type)} *){kind}[{k}];")
        for b in self.g.buffers:
            if b.kind == "workspace":
                setup.append(
                    f"  {_ctype(b.type)} *const b{b.index} = ({_ctype(b.type)} *)((char *)workspace + {self.workspace});"
                )
                self.workspace += (self.size(b) * np.dtype(b.type.dtype).itemsize + 63) // 64 * 64
        self.region(self.g.top)
        tables = [self.table(b) for b in self.g.buffers if b.kind == "constant"]
        arrays = [
            f"   {kind}[{k}]: {_ctype(b.type)}[{self.size(b)}]"
            for kind, buffers in (("in", program.inputs), ("out", program.outputs))
            for k, b in enumerate(buffers)
        ]
        signature = f"void {name}(const void *const *in, void *const *out, void *workspace)"
        head = [
            _PRELUDE.format(),
            f"#define {name.upper()}_WORKSPACE {max(self.workspace, 1)}",
            *tables,
            *self.called.values(),
            "\n".join(
                ["/* Arrays in C order:", *arrays, "   and as many bytes of workspace as the number above says. */"]
            ),
            f"{signature} {{",
        ]
        unused = ["  (void)in; (void)out; (void)workspace;"]
        return "\n".join([*head, *unused, *setup, *self.lines, "}", ""])

    def size(self, b: Buffer) -> int:
        """How many numbers a buffer has, which may depend on the lengths of loops."""
        lengths = self.g.lengths
        return at_lengths(b.size, () if lengths is None or lengths.data is None else lengths.data.tolist())

    def table(self, b: Buffer) -> str:
        assert b.data is not None
        values = ", ".join(self.literal(v, b.type) for v in b.data)
        return f"static const {_ctype(b.type)} b{b.index}[{self.size(b)}] = {{{values}}};"

    def write(self, text: str) -> None:
        self.lines.append("  " * self.indent + text)

    @staticmethod
    def literal(value, type: Type) -> str:
        if type.is_float:
            x = float(value)
            if math.isnan(x):
                return "NAN"
            if math.isinf(x):
                return "INFINITY" if x > 0 else "(-INFINITY)"
            text = x.hex()  # exact
            return f"({text}{'f' if type == F32 else ''})"
        n = int(value)
        if type.bits == 64 and n == -(2**63):
            return "INT64_MIN"
        return f"({n}{'ull' if type.kind == 'u' and type.bits == 64 else 'll' if type.bits == 64 else ''})"

    def ref(self, v: int) -> str:
        v = self.rename.get(v, v)
        return self.literal(self.g.constants[v], self.g.types[v]) if v in self.g.constants else f"v{v}"

    def region(self, region: Region) -> None:
        for item in region.items:
            if isinstance(item, int):
                if item in self.facts.live:
                    self.write_value(item)
            elif isinstance(item, Store):
                # What is written to memory that nothing reads is left out, and so is the place where it would go.
                if item.buffer.kind == "output" or root(item.buffer).index in self.read:
                    self.write(f"b{root(item.buffer).index}[{self.ref(item.place)}] = {self.ref(item.value)};")
            elif isinstance(item, Loop):
                self.loop(item)
            else:
                self.branch(item)

    def write_value(self, value: int) -> None:
        self.write(f"const {_ctype(self.g.types[value])} v{value} = {self.expression(value)};")

    def loop(self, loop: Loop) -> None:
        """Carries are variables that live outside the loop; their next values are computed before any is set."""
        carries = []
        for (inside, initial, after), result in zip(loop.carries, loop.results, strict=True):
            if inside not in self.facts.live:
                continue
            if after == inside:
                self.rename[inside] = self.rename[result] = self.rename.get(initial, initial)
                continue
            carries.append((inside, after, result))
            self.write(f"{_ctype(self.g.types[inside])} v{inside} = {self.ref(initial)};")
        if loop.test is None:
            assert loop.trip is not None
            self.write(
                f"for (int64_t v{loop.counter} = 0; v{loop.counter} < {self.ref(loop.trip)}; v{loop.counter}++) {{"
            )
            self.indent += 1
        else:
            assert loop.test_region is not None
            self.write("for (;;) {")
            self.indent += 1
            self.region(loop.test_region)
            self.write(f"if (!{self.ref(loop.test)}) break;")
        self.region(loop.body)
        for inside, after, _ in carries:
            self.write(f"const {_ctype(self.g.types[inside])} n{inside} = {self.ref(after)};")
        for inside, _, _ in carries:
            self.write(f"v{inside} = n{inside};")
        self.indent -= 1
        self.write("}")
        for inside, _, result in carries:
            self.rename[result] = inside

    def called_function(self, function: str, arguments: int, type: Type) -> str:
        """The name of an elementary function in C; its definition is made where it is not yet there."""
        name = f"hs_{function}_{type.name}"
        if name not in self.called:
            body = alone(function, arguments, type.name)
            inner = _Writer(body.graph)
            for value in body.operations():
                inner.write_value(value)
            inner.write(f"return {inner.ref(body.result)};")
            parameters = ", ".join(f"const {_ctype(type)} v{p}" for p in body.parameters)
            self.called[name] = "\n".join([f"static {_ctype(type)} {name}({parameters}) {{", *inner.lines, "}"])
        return name

    def branch(self, item: Branch) -> None:
        wanted = [(k, r) for k, r in enumerate(item.results) if r in self.facts.live]
        for _, r in wanted:
            self.write(f"{_ctype(self.g.types[r])} v{r};")
        self.write(f"switch ({self.ref(item.selector)}) {{")
        for k, (region, outputs) in enumerate(zip(item.regions, item.outputs, strict=True)):
            self.write(f"case {k}: {{" if k + 1 < len(item.regions) else "default: {")
            self.indent += 1
            self.region(region)
            for n, r in wanted:
                self.write(f"v{r} = {self.ref(outputs[n])};")
            self.write("break;")
            self.indent -= 1
            self.write("}")
        self.write("}")

    def expression(self, v: int) -> str:
        op, type = self.g.ops[v], self.g.types[v]
        if op == "load":
            place, buffer = self.g.args[v]
            return f"b{root(buffer).index}[{self.ref(place)}]"
        r = [self.ref(a) for a in operands(self.g, v)]
        source = self.g.types[operands(self.g, v)[0]]
        single = "f" if source == F32 else ""
        C = _ctype(type)
        if op == "select":
            return f"{r[0]} ? {r[1]} : {r[2]}"
        if op == "neg":
            return f"-{r[0]}" if type.is_float else f"({C})(0 - {r[0]})"
        if op in ("fms", "fnma"):
            a, b, c = r if op == "fms" else (f"-{r[0]}", r[1], r[2])
            return f"fma{single}({a}, {b}, {'-' if op == 'fms' else ''}{c})"
        if op == "not":
            return f"!{r[0]}" if type == BOOL else f"({C})~{r[0]}"
        if op in _INFIX:
            # Integers wrap around: signed overflow is undefined in C, so it is done without sign.
            if type.signed and op in ("add", "sub", "mul"):
                return f"({C})((uint64_t){r[0]} {_INFIX[op]} (uint64_t){r[1]})"
            return f"({C})({r[0]} {_INFIX[op]} {r[1]})"
        if op in ("max", "min"):
            sign = ">" if op == "max" else "<"
            return f"({C})hs_{op}({r[0]}, {r[1]})" if type.is_float else f"{r[0]} {sign} {r[1]} ? {r[0]} : {r[1]}"
        if op == "abs" and not type.is_float:
            return f"({C})({r[0]} < 0 ? 0 - (uint64_t){r[0]} : (uint64_t){r[0]})"
        if op in ("shl", "lshr", "ashr"):
            unsigned = f"(uint{type.bits}_t){r[0]}" if op != "ashr" else f"(int{type.bits}_t){r[0]}"
            return f"({C})({unsigned} {'<<' if op == 'shl' else '>>'} {r[1]})"
        if op == "popcount":
            return f"({C})__builtin_popcountll((uint64_t){r[0]})"
        if op in ("idiv", "rem") and not type.is_float:
            return f"({C})hs_{'i' if type.signed else 'u'}{'div' if op == 'idiv' else 'rem'}({r[0]}, {r[1]})"
        if op == "cast":
            if source.is_float and not type.is_float:
                info = np.iinfo(type.dtype)
                if not type.signed:
                    return f"({C})hs_tounsigned({r[0]}, {float(info.max)!r})"
                return f"({C})hs_toint({r[0]}, {float(info.min)!r}, {float(info.max)!r})"
            return f"({C}){r[0]}"
        if op == "bits":
            short = "f" if type.bits == 32 else ""
            function = f"hs_bits{short}" if source.is_float else f"hs_number{short}" if type.is_float else ""
            return f"({C}){function}({r[0]})"
        if op.startswith("rarely "):
            return f"{r[0]} ? {op.removeprefix('rarely ')}{single if type == F32 else ''}({', '.join(r[2:])}) : {r[1]}"
        if op.startswith("call "):
            return f"{self.called_function(op.removeprefix('call '), len(r), type)}({', '.join(r)})"
        name = _MATH.get(op, "fmod" if op == "rem" else op)
        return f"{name}{single}({', '.join(r)})"
