"""Numbers for people: few digits, and words where there is no number."""

import math

MINUS, NONE = "\N{MINUS SIGN}", "\N{EN DASH}"


def number(x: float, digits: int = 3, full: bool = False) -> str:
    """Significant digits, without exponents where people do not expect them; `full` keeps zeros at the end: 3.00."""
    if math.isnan(x):
        return NONE
    if math.isinf(x):
        return "∞" if x > 0 else f"{MINUS}∞"
    if 10**digits <= abs(x) < 1e6:
        return f"{x:.0f}".replace("-", MINUS)
    mantissa, _, exponent = f"{x:{'#' if full and x else ''}.{digits}g}".partition("e")
    return (mantissa.rstrip(".") + (f"e{int(exponent)}" if exponent else "")).replace("-", MINUS)


def error(x: float, unit: str = "") -> str:
    """A distance: infinite where the simulation ran away."""
    if math.isnan(x):
        return "not measured"
    if math.isinf(x):
        return "diverged"
    return f"{number(x, full=True)} {unit}".rstrip()


def percent(share: float, digits: int = 2) -> str:
    return f"{number(100 * share, digits)} %" if math.isfinite(share) else NONE


def times(ratio: float) -> str:
    """How many times smaller: 40 rather than 40.3, but 1.31."""
    return number(ratio, 2 if ratio >= 10 else 3)


def digits_for(value: float, deviation: float) -> int:
    """How many digits of a value have a meaning: two of its uncertainty."""
    if not (math.isfinite(deviation) and math.isfinite(value)) or deviation <= 0:
        return 4
    if value == 0:
        return 2
    return min(max(math.floor(math.log10(abs(value))) - math.floor(math.log10(deviation)) + 2, 2), 7)


def unit_text(unit: str) -> str:
    return "" if unit == "1" else unit.replace("^2", "²").replace("^3", "³")


def ordinal(count: int) -> str:
    ending = "th" if count % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def sentence_of(words: str) -> str:
    """With a capital at its start, unless that is a name such as "link/arm/mass", and a stop at its end."""
    first = words.split(" ", 1)[0]
    start = words[:1] if "/" in first else words[:1].upper()
    return start + words[1:] + ("" if words.endswith((".", "!", "?")) else ".")


def counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def short_names(runs: list[str]) -> dict[str, str]:
    """Names of files without their folders, where that leaves them apart."""
    last = {run: run.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or run for run in runs}
    return last if len(set(last.values())) == len(last) else {run: run for run in runs}
