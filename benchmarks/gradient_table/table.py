"""One row for a scene and a contact model, from all blocks of its Jacobian."""

from collections.abc import Iterator
from dataclasses import dataclass

from .compare import TOLERANCE, Block, compare
from .differences import differences
from .jacobians import Map, Programs, contact_models, scenes_for
from .scenes import Scene


@dataclass(frozen=True)
class Row:
    """What was found; see `Block`."""

    scene: str
    engine: str
    steps: int
    blocks: list[Block]
    note: str = ""

    def largest(self, name: str) -> float:
        return max((getattr(block, name) for block in self.blocks), default=0.0)

    def count(self, name: str) -> int:
        return sum(getattr(block, name) for block in self.blocks)

    @property
    def right(self) -> bool:
        """Whether all smooth entries agree, in both modes, and all entries are numbers."""
        return max(self.largest("forward"), self.largest("reverse")) <= TOLERANCE and self.count("nan") == 0

    def where(self) -> str:
        """Blocks with entries where the map is not smooth."""
        rough = [b for b in self.blocks if b.kinks or b.jumps or b.rough]
        return "; ".join(
            f"{b.output} by {b.group}: {_kinds(b)}" + (f" (returned: {b.returned})" if b.returned else "")
            for b in rough
        )


def _kinds(block: Block) -> str:
    counts = {"kinks": block.kinks, "jumps": block.jumps, "slope changes at every step": block.rough}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def row(programs: Programs, scene: Scene, engine: str) -> Row:
    f = Map(programs, scene)
    blocks = compare(f.groups, scene.model.nq, f.forward(), f.reverse(), differences(f, f.zero))
    return Row(scene.name, engine, scene.steps, blocks)


def rows(only: tuple[str, ...] = ()) -> Iterator[Row]:
    """Of all scenes and contact models, or of the scenes named, as they are found."""
    for engine, models in contact_models().items():
        programs = Programs(*models)
        for scene in scenes_for(models[0]):
            if not only or scene.name in only:
                yield row(programs, scene, engine)
