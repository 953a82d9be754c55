"""[contact] of fit.toml: how shapes touch, for all pairs or by the names of shapes or links."""

from typing import Any, Literal

from ..contact import (
    Andersson,
    BrownMcPhee,
    Contact,
    ContactByPair,
    Coulomb,
    Frictionless,
    Hollars,
    HuntCrossley,
    Impulses,
    Springs,
)
from ..data import DataError
from ..escape import shortened

MODELS = ("impulses", "springs", "none")
FRICTION = {
    "brown_mcphee": BrownMcPhee,
    "coulomb": Coulomb,
    "andersson": Andersson,
    "hollars": Hollars,
    "none": Frictionless,
}
"""Laws of friction of springs."""
_EXAMPLE = '{ between = ["*foot*", "ground"], model = "springs", friction = "coulomb" }'


def contact_from(name: str, section: dict[str, Any]) -> Contact | Literal["auto"] | None:
    """The contact model that a section says; `name` is that of the file."""
    word, pairs = section.get("model", "auto"), section.get("pairs", [])
    if not pairs:
        return "auto" if word == "auto" else _model(name, {"model": word})
    rules = {}
    for entry in pairs:
        names = entry.get("between") if isinstance(entry, dict) else None
        if not (isinstance(names, list) and len(names) == 2 and all(isinstance(x, str) for x in names)):
            raise DataError(f"{name}: contact.pairs has {shortened(entry)}; each entry must be like {_EXAMPLE}")
        if tuple(names) in rules:
            raise DataError(f"{name}: contact.pairs names {names} twice; the first rule that matches a pair counts")
        rules[tuple(names)] = _model(name, {key: value for key, value in entry.items() if key != "between"})
    return ContactByPair(rules, _model(name, {"model": "impulses" if word == "auto" else word}))


def _model(name: str, given: dict[str, Any]) -> Impulses | Springs | None:
    if strange := [key for key in given if key not in ("model", "friction")]:
        raise DataError(f"{name}: an entry of contact.pairs has the key {strange[0]!r}; it must be like {_EXAMPLE}")
    word, law = given.get("model"), given.get("friction", "brown_mcphee")
    if word not in MODELS:
        allowed = " or ".join(map(repr, MODELS))
        raise DataError(f"{name}: model of an entry of contact.pairs is {shortened(word)}; it must be {allowed}")
    if not isinstance(law, str) or law not in FRICTION:
        allowed = " or ".join(map(repr, FRICTION))
        raise DataError(f"{name}: friction of an entry of contact.pairs is {shortened(law)}; it must be {allowed}")
    if word != "springs" and "friction" in given:
        raise DataError(f"{name}: friction = {law!r} is a law of springs, but the model of this entry is {word!r}")
    return {"impulses": Impulses(), "springs": Springs(HuntCrossley(), FRICTION[law]()), "none": None}[word]
