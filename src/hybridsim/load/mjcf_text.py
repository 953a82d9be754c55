"""The text of an MJCF file: included files put in their places, elements renamed, attributes removed.

`edit_xml.Document` changes numbers; this is the rest, and as there every other character stays as it is.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from lxml import etree

from ..model import ModelError
from .mjcf_source import find_include
from .xml import parse_xml

_START_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")

_ATTRIBUTE = re.compile(rb"""\s+([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')""")


class Span(NamedTuple):
    """Where an element lies in a text: <a ...> from start to inner, </a> from outer to end."""

    tag: str
    attributes: dict[str, str]
    start: int
    inner: int
    outer: int
    end: int


def inlined(main: Path) -> bytes:
    """A file with the files that it includes in place of their <include>."""
    return _inlined(main, [main]).decode().encode(_encoding(main), "xmlcharrefreplace")


def _inlined(main: Path, chain: list[Path]) -> bytes:
    """Of the last file in a chain in which each includes the next, in UTF-8."""
    file = chain[-1]
    text = file.read_bytes().decode(_encoding(file)).encode()
    for span in reversed(_spans(text)):
        if span.tag == "include":
            included = find_include(main, file, span.attributes.get("file", ""))
            if included in chain:
                raise ModelError(f"{file}: it includes {included}, which includes it; remove one <include>")
            text = text[: span.start] + _content(_inlined(main, [*chain, included])) + text[span.end :]
    return text


def _content(text: bytes) -> bytes:
    root = _spans(text)[0]
    return text[root.inner : root.outer].strip()


def _encoding(file: Path) -> str:
    return parse_xml(file).docinfo.encoding or "utf-8"


def completed(text: str, root: etree._Element) -> str:
    """`text` with those attributes removed and elements renamed that `root`, its changed tree, has so."""
    source = text.encode()
    edits: dict[tuple[int, int], bytes] = {}
    for span, element in zip(_spans(source), _in_text_order(root), strict=True):
        old, new = span.tag.encode(), element.tag.encode()
        head, tail = source[span.start : span.inner], source[span.outer : span.end]
        head = _without(head, span.attributes.keys() - element.attrib.keys())
        edits[span.start, span.inner] = head.replace(old, new, 1)
        edits[span.outer, span.end] = tail.replace(old, new)
    parts, end = [], 0
    for (start, stop), new in sorted(edits.items()):
        parts += [source[end:start], new]
        end = stop
    return b"".join([*parts, source[end:]]).decode()


def _without(head: bytes, attributes: set[str]) -> bytes:
    """A start tag without these attributes. What looks like one inside the value of another, such as a name, stays."""
    names = {name.encode() for name in attributes}
    return _ATTRIBUTE.sub(lambda found: b"" if found[1] in names else found[0], head)


def _in_text_order(element: etree._Element) -> Iterator[etree._Element]:
    """New children, those without a line, are written before the others."""
    yield element
    for child in sorted(element.iterchildren("*"), key=lambda child: child.sourceline is not None):
        yield from _in_text_order(child)


def _spans(text: bytes) -> list[Span]:
    """Of all elements, in document order."""
    found: list[Span] = []
    opened: list[int] = []
    parser = expat.ParserCreate("utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        begin = parser.CurrentByteIndex
        inner = _START_TAG.match(text, begin).end()
        opened.append(len(found))
        found.append(Span(tag, attributes, begin, inner, inner, inner))

    def end(tag: str) -> None:
        index = opened.pop()
        if not text.endswith(b"/>", 0, found[index].inner):
            outer = parser.CurrentByteIndex
            found[index] = found[index]._replace(outer=outer, end=text.index(b">", outer) + 1)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(text, True)
    return found
