"""LLVM text of the function that feeds a kernel of several lanes from ordinary arrays.

Rows of a batch lie one after the other; the kernel wants the same number of all lanes side by side. So each
group of rows is copied into interleaved memory, computed, and copied back. Where a group has fewer rows than
lanes, its last row fills the rest, and only real rows are copied back.
"""

from .emit_sizes import Sizes
from .graph import Buffer
from .lengths.affine import Size
from .types import BOOL, Type


def driver(
    lanes: int,
    inputs: list[Buffer],
    outputs: list[Buffer],
    shared: frozenset[int],
    lengths: Buffer | None,
    workspace: Size,
) -> tuple[str, Size]:
    """Text of `batch(ptr inputs[], ptr outputs[], ptr scratch, i64 begin, i64 end)`, and the size of its scratch.

    `lengths`: the input on which sizes depend.
    """
    lines = [
        "define void @batch(ptr noalias %in, ptr noalias %out, ptr noalias %scratch, i64 %begin, i64 %end) nounwind {",
        "entry:",
        f"  %outs = getelementptr i8, ptr %scratch, i64 {8 * len(inputs)}",
        "  %last = sub i64 %end, 1",
    ]
    both = [*inputs, *outputs]
    for k in range(len(both)):
        source, index = ("in", k) if k < len(inputs) else ("out", k - len(inputs))
        lines += [f"  %p{k} = getelementptr ptr, ptr %{source}, i64 {index}", f"  %a{k} = load ptr, ptr %p{k}"]
    sizes = Sizes(lines, None if lengths is None else f"%a{inputs.index(lengths)}")
    mixed = [(f"%s{k}", b.size * (lanes * _bytes(b.type))) for k, b in enumerate(both) if b.index not in shared]
    size = sizes.lay_out("%scratch", [*mixed, ("%ws", workspace)], 8 * len(both))
    for k, buffer in enumerate(both):
        lines += [
            f"  %slot{k} = getelementptr ptr, ptr %scratch, i64 {k}",
            f"  store ptr %{'a' if buffer.index in shared else 's'}{k}, ptr %slot{k}",
        ]
    counts = [sizes.text(b.size) for b in both]
    lines += [
        "  br label %group",
        "group:",
        "  %first = phi i64 [ %begin, %entry ], [ %following, %group ]",
    ]
    for k, buffer in enumerate(inputs):
        if buffer.index not in shared:
            lines.append(
                f"  call void @pack{_bytes(buffer.type)}(ptr %a{k}, ptr %s{k}, i64 {counts[k]}, i64 %first, i64 %last)"
            )
    lines.append("  call void @kernel(ptr %scratch, ptr %outs, ptr %ws)")
    for k, buffer in enumerate(outputs, start=len(inputs)):
        lines.append(
            f"  call void @unpack{_bytes(buffer.type)}(ptr %a{k}, ptr %s{k}, i64 {counts[k]}, i64 %first, i64 %last)"
        )
    lines += [
        f"  %following = add i64 %first, {lanes}",
        "  %more = icmp slt i64 %following, %end",
        "  br i1 %more, label %group, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    widths = sorted({_bytes(b.type) for b in [*inputs, *outputs]})
    helpers = [_copy(name, width, lanes) for width in widths for name in ("pack", "unpack")]
    return "\n".join([*helpers, *lines]), size


def _bytes(type: Type) -> int:
    return 1 if type == BOOL else type.bits // 8


def _copy(name: str, width: int, lanes: int) -> str:
    """Between rows (`n` numbers each) and interleaved memory; lanes beyond the last row repeat it or are dropped."""
    T = f"i{8 * width}"
    lines = [
        f"define internal void @{name}{width}(ptr noalias %rows, ptr noalias %mixed, i64 %n, i64 %first, i64 %last) nounwind {{",
        "entry:",
    ]
    for lane in range(lanes):
        lines += [
            f"  %wanted{lane} = add i64 %first, {lane}",
            f"  %inside{lane} = icmp sle i64 %wanted{lane}, %last",
            f"  %row{lane} = select i1 %inside{lane}, i64 %wanted{lane}, i64 %last",
            f"  %start{lane} = mul i64 %row{lane}, %n",
            f"  %at{lane} = getelementptr {T}, ptr %rows, i64 %start{lane}",
        ]
    lines += [
        "  %empty = icmp eq i64 %n, 0",
        "  br i1 %empty, label %end, label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %step ]",
        f"  %base = mul i64 %i, {lanes}",
        "  br label %lane0",
    ]
    for lane in range(lanes):
        after = f"lane{lane + 1}" if lane + 1 < lanes else "step"
        lines += [
            f"lane{lane}:",
            f"  %place{lane} = add i64 %base, {lane}",
            f"  %m{lane} = getelementptr {T}, ptr %mixed, i64 %place{lane}",
            f"  %r{lane} = getelementptr {T}, ptr %at{lane}, i64 %i",
        ]
        if name == "pack":
            lines += [
                f"  %x{lane} = load {T}, ptr %r{lane}",
                f"  store {T} %x{lane}, ptr %m{lane}",
                f"  br label %{after}",
            ]
        else:
            lines += [
                f"  br i1 %inside{lane}, label %write{lane}, label %{after}",
                f"write{lane}:",
                f"  %x{lane} = load {T}, ptr %m{lane}",
                f"  store {T} %x{lane}, ptr %r{lane}",
                f"  br label %{after}",
            ]
    lines += [
        "step:",
        "  %next = add i64 %i, 1",
        "  %more = icmp ult i64 %next, %n",
        "  br i1 %more, label %loop, label %end",
        "end:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)
