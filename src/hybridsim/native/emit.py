"""From the graph to LLVM's text form, for one lane or for several in one vector register.

With lanes, a value that differs between them is a vector; counters, constants and shared inputs stay numbers.
Memory that differs is interleaved: place i of all lanes lies together. Control that differs between lanes is
done for all of them, and a mask keeps what is stored.
"""

from .emit_calls import Called
from .emit_sizes import Sizes
from .emit_values import ValueEmitter
from .functions.alone import alone
from .graph import Branch, Buffer, Graph, Loop, Region, Store
from .lengths.affine import Size
from .live import facts

LONGEST_BLOCK = 2000
"""Lines of text between two labels."""


class Emitter(ValueEmitter):
    """Regions, loops and branches; values are in `ValueEmitter`."""

    def __init__(
        self,
        graph: Graph,
        lanes: int = 1,
        uniform: frozenset[int] = frozenset(),
        vectors: frozenset[int] | None = None,
    ):
        """`uniform`: input buffers that all lanes share. `vectors`: in a packed program, the values that are vectors."""
        found = facts(graph, lanes if vectors is None else 1, uniform)
        if vectors is not None:
            found.varying = found.live & vectors
        super().__init__(graph, found, lanes, packed=vectors is not None)
        self.uniform = uniform
        self.mask: str | None = None
        self.cuts = 0
        self.workspace_size: Size = 0

    def function(self, name: str, inputs: list[Buffer], outputs: list[Buffer]) -> str:
        """void name(ptr inputs[], ptr outputs[], ptr workspace)"""
        write = self.lines.append
        for array, buffers in (("in", inputs), ("out", outputs)):
            for k, buffer in enumerate(buffers):
                write(f"  %{array}{k} = getelementptr ptr, ptr %{array}, i64 {k}")
                write(f"  %b{buffer.index} = load ptr, ptr %{array}{k}")
        sizes = Sizes(self.lines, None if self.g.lengths is None else f"%b{self.g.lengths.index}")
        each = 1 if self.packed else self.lanes
        used = [b for b in self.g.buffers if b.kind == "workspace"]
        parts = [(f"%b{b.index}", b.size * (each * max(b.type.bits, 8) // 8)) for b in used]
        self.workspace_size = sizes.lay_out("%ws", parts)
        self.region(self.g.top)
        write("  ret void")
        if self.cuts:
            self.lines += ["never:", "  ret void"]
        functions = [self.elementary(called) for called in sorted(self.called)]
        constants = [self.constant_array(b) for b in self.g.buffers if b.kind == "constant"]
        head = f"define internal void @{name}(ptr noalias %in, ptr noalias %out, ptr noalias %ws) nounwind {{\nentry:"
        return "\n".join([*constants, *sorted(self.declared), *functions, head, *self.lines, "}", *self.tags()])

    def elementary(self, called: Called) -> str:
        """The definition of an elementary function, for numbers or for vectors."""
        body = alone(called.function, called.arguments, called.type)
        values = frozenset(set(range(len(body.graph.ops))) - body.graph.constants.keys())
        inner = Emitter(body.graph, self.lanes, vectors=values) if called.in_lanes else Emitter(body.graph)
        parameters = []
        for k, value in enumerate(body.parameters):
            inner.rename_text[value] = f"%a{k}"
            parameters.append(f"{inner.type(value)} %a{k}")
        for value in body.operations():
            inner.value(value)
        T = inner.type(body.result)
        self.declared |= inner.declared
        head = (
            f"define internal {T} @{called.name}({', '.join(parameters)}) noinline nounwind willreturn memory(none) {{"
        )
        return "\n".join([head, "entry:", *inner.lines, f"  ret {T} {inner.ref(body.result)}", "}"])

    def region(self, region: Region) -> None:
        live = self.facts.live
        for item in region.items:
            if len(self.lines) - self.block_begins > LONGEST_BLOCK:
                self.cut()
            if isinstance(item, int):
                if item in live:
                    self.value(item)
            elif isinstance(item, Store):
                if item.value in live and self.is_read(item.buffer):
                    self.store(item.buffer, item.place, item.value, self.mask)
            elif isinstance(item, Loop):
                self.loop(item)
            else:
                self.branch(item)

    def cut(self) -> None:
        """End the present block and go on in another.

        LLVM chooses and orders the instructions of one block at a time, which takes it a time like the square of the
        block's length. It would join two blocks again if it knew that one always follows the other, so there is a
        branch that is never taken, on a number that it cannot see through.
        """
        self.cuts += 1
        go_on = self.label()
        number = self.define("i64", f'call i64 asm "", "=r,0"(i64 {self.cuts})')
        same = self.define("i1", f"icmp eq i64 {number}, {self.cuts}")
        self.lines.append(f"  br i1 {same}, label %{go_on}, label %never")
        self.start(go_on)

    def loop(self, loop: Loop) -> None:
        """Blocks: head (phis and test), body, latch, end."""
        live, write = self.facts.live, self.lines.append
        result_of = {carry[0]: result for carry, result in zip(loop.carries, loop.results, strict=True)}
        carries = []
        for inside, initial, after in loop.carries:
            if inside not in live and result_of[inside] not in live:
                continue
            if after == inside:  # it never changes: it is its initial value, inside and after
                self.rename[inside] = self.rename[result_of[inside]] = self.rename.get(initial, initial)
            else:
                carries.append((inside, initial, after))
        head, body, latch, end = (self.label() for _ in range(4))
        before, initials = self.block, [self.ref(initial, inside) for inside, initial, _ in carries]
        write(f"  br label %{head}")
        self.start(head)
        phis_at = len(self.lines)
        outer_mask, leaves_from = self.mask, latch
        if loop.test_region is not None:
            self.region(loop.test_region)
            test = self.test(loop)
            write(f"  br i1 {test}, label %{body}, label %{end}")
            leaves_from = self.block
            self.start(body)
        self.region(loop.body)
        afters = [self.kept(loop, inside, after) for inside, _, after in carries]
        self.mask = outer_mask
        write(f"  br label %{latch}")
        self.start(latch)
        phis = []
        if loop.trip is not None:
            trip = self.ref(loop.trip)
            i = f"%v{loop.counter}"
            write(f"  {i}.next = add nuw nsw i64 {i}, 1")
            write(f"  {i}.more = icmp ult i64 {i}.next, {trip}")
            write(f"  br i1 {i}.more, label %{head}, label %{end}")
            phis.append(f"  {i} = phi i64 [ 0, %{before} ], [ {i}.next, %{latch} ]")
        else:
            write(f"  br label %{head}")
        for (inside, _, _), first, after in zip(carries, initials, afters, strict=True):
            phis.append(f"  %v{inside} = phi {self.type(inside)} [ {first}, %{before} ], [ {after}, %{latch} ]")
        self.lines[phis_at:phis_at] = phis
        self.start(end)
        for (inside, _, _), after in zip(carries, afters, strict=True):
            last = after if loop.test is None else f"%v{inside}"
            write(f"  %v{result_of[inside]} = phi {self.type(inside)} [ {last}, %{leaves_from} ]")

    def test(self, loop: Loop) -> str:
        """Whether to go on: with lanes that differ, whether any of those that count does."""
        test = loop.test
        assert test is not None
        if test not in self.facts.varying and self.mask is None:
            return self.ref(test)
        active = self.ref(test, varying=True)
        if self.mask is not None:
            active = self.define("<L x i1>", f"and <L x i1> {active}, {self.mask}")
        self.mask = active
        return self.any(active)

    def kept(self, loop: Loop, inside: int, after: int) -> str:
        """The next value of a carry; a lane that has left the loop keeps its own."""
        new = self.ref(after, inside)
        if loop.test is None or self.mask is None or inside not in self.facts.varying:
            return new
        T = self.type(inside)
        return self.define(T, f"select <L x i1> {self.mask}, {T} {new}, {T} %v{inside}")

    def branch(self, item: Branch) -> None:
        if item.selector in self.facts.varying:
            self.masked_branch(item)
            return
        write, labels, end = self.lines.append, [self.label() for _ in item.regions], self.label()
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels[:-1]))
        write(f"  switch i64 {self.ref(item.selector)}, label %{labels[-1]} [ {cases} ]")
        wanted = [(k, r) for k, r in enumerate(item.results) if r in self.facts.live]
        blocks, values = [], []
        for label, region, outputs in zip(labels, item.regions, item.outputs, strict=True):
            self.start(label)
            self.region(region)
            values.append([self.ref(outputs[k], result) for k, result in wanted])
            blocks.append(self.block)
            write(f"  br label %{end}")
        self.start(end)
        for n, (_, result) in enumerate(wanted):
            pairs = ", ".join(f"[ {row[n]}, %{block} ]" for row, block in zip(values, blocks, strict=True))
            write(f"  %v{result} = phi {self.type(result)} {pairs}")

    def masked_branch(self, item: Branch) -> None:
        """Every branch that some lane takes, for all lanes, then for each lane the results of its own."""
        outer, chosen, results = self.mask, [], []
        wanted = [(n, result) for n, result in enumerate(item.results) if result in self.facts.live]
        for k, (region, outputs) in enumerate(zip(item.regions, item.outputs, strict=True)):
            mine = self.define(
                "<L x i1>", f"icmp eq <L x i64> {self.ref(item.selector)}, {self.splat_constant('i64', str(k))}"
            )
            self.mask = mine if outer is None else self.define("<L x i1>", f"and <L x i1> {mine}, {outer}")
            body, end, before = self.label(), self.label(), self.block
            self.lines.append(f"  br i1 {self.any(self.mask)}, label %{body}, label %{end}")
            self.start(body)
            self.region(region)
            values = [self.ref(outputs[n], result) for n, result in wanted]
            after = self.block
            self.lines.append(f"  br label %{end}")
            self.start(end)
            types = [self.type(result) for _, result in wanted]
            # A branch that no lane takes has results that no lane reads.
            results.append(
                [
                    self.define(T, f"phi {T} [ {value}, %{after} ], [ zeroinitializer, %{before} ]")
                    for T, value in zip(types, values, strict=True)
                ]
            )
            chosen.append(mine)
        self.mask = outer
        for i, (_, result) in enumerate(wanted):
            T, value = self.type(result), results[-1][i]
            for mine, found in reversed(list(zip(chosen[:-1], results[:-1], strict=True))):
                value = self.define(T, f"select <L x i1> {mine}, {T} {found[i]}, {T} {value}")
            self.rename_text[result] = value

    def is_read(self, buffer: Buffer) -> bool:
        return buffer.kind == "output" or self.root_index(buffer) in self.read_buffers
