"""HTML in which every text is escaped unless it says that it is markup."""

from collections.abc import Iterable
from html import escape

_EMPTY = frozenset({"meta", "br", "line", "circle", "rect"})


class Html(str):
    """Text that is markup already. All other text comes from people or files, and is escaped."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | float) -> Html:
    """An element; `class_="wide"` is its class, and `data_x` the attribute data-x."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value != ""
    )
    if name in _EMPTY:
        return Html(f"<{name}{given}/>")
    return Html(f"<{name}{given}>{together(children)}</{name}>")


def together(parts: Iterable[str]) -> Html:
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def table(header: Iterable[str], rows: Iterable[Iterable[str]], texts: Iterable[int] = (0,)) -> Html:
    """Columns in `texts` are text, the others numbers that end at the same edge."""
    left = frozenset(texts)

    def row(cells: Iterable[str], cell: str) -> Html:
        return tag("tr", *(tag(cell, c, class_="" if i in left else "number") for i, c in enumerate(cells)))

    body = tag("tbody", *(row(cells, "td") for cells in rows))
    return tag("div", tag("table", tag("thead", row(header, "th")), body), class_="scroll")


def section(name: str, title: str, *children: str) -> Html:
    return tag("section", tag("h2", title), *children, id=name)


def bar(share: float, colour: str) -> Html:
    """A little bar; what is not a share of one is drawn as its nearest end."""
    width = 100 * min(max(share, 0.0), 1.0) if share == share else 0.0
    fill = tag("span", class_="fill", style=f"width:{width:.1f}%;background:var(--{colour})")
    return tag("span", fill, class_="bar")
