"""Names of the convex parts that stand for one shape of a file."""


def part_names(name: str, count: int) -> list[str]:
    """The shape's own name if there is one part, else with their numbers; shapes without a name stay without."""
    return [name] * count if count == 1 or not name else [f"{name}/part{k + 1}" for k in range(count)]
