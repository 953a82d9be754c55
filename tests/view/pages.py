"""Reads a page strictly: every element that opens must close, in order."""

from html.parser import HTMLParser

_VOID = frozenset({"meta", "br"})


class Reader(HTMLParser):
    """Text, attributes and identifiers of a page; raises where tags are not balanced."""

    def __init__(self, html: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self._note(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self._note(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    def _note(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, key, value or "") for key, value in attrs]

    @property
    def text(self) -> str:
        """All that a person reads, with single spaces."""
        return " ".join(" ".join(self.texts).split())

    def values(self, key: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == key]
