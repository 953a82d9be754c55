"""In which units positions and their errors are shown: degrees for what turns, millimetres for what slides."""

from dataclasses import dataclass

from ...identify import Errors
from ...identify.parts import parts_of, shown_names
from ...model import Model
from ..summary_errors import shown_unit
from .numbers import error


@dataclass(frozen=True)
class Kind:
    """Numbers in SI units, times `factor`, are in `unit`."""

    si: str
    """ "rad" or "m"."""
    factor: float
    unit: str


@dataclass(frozen=True)
class Units:
    """Of a model, each kind of its positions, and which kind each of them is."""

    kinds: tuple[Kind, ...]
    by_name: dict[str, Kind]
    """Of parts of errors and of numbers that are drawn."""

    def of(self, name: str) -> Kind:
        return self.by_name.get(name, self.kinds[0])

    def text(self, errors: Errors, what: str = "median") -> str:
        """An error in all units, such as "3.1 mm and 2.4 deg"."""
        return " and ".join(error(kind.factor * getattr(errors.of(kind.si), what), kind.unit) for kind in self.kinds)


def units_of(model: Model, errors: Errors | None = None) -> Units:
    """Degrees, millimetres or both; of these only where there are errors, if some are given."""
    known = {unit: Kind(unit, *shown_unit(unit)) for unit in ("m", "rad")}
    named = [(part.name, part.unit) for part in parts_of(model)]
    wanted = () if errors is None else errors.kinds
    kinds = dict.fromkeys(known[unit] for _, unit in named if not wanted or unit in wanted)
    by_name = {name: known[unit] for name, unit in (*named, *shown_names(model))}
    return Units(tuple(kinds) or (known["rad"],), by_name)
