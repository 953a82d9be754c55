"""Edits of an XML file that leave every other character as it is.

Change the attributes of `root`'s elements, or add elements, as with any lxml tree; `text` then rewrites only the
start tags that changed, at their places in the original text.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from lxml import etree

from ..model import ModelError
from .xml import parse_xml

_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_START_TAG = re.compile(rf"<[^\s/>]+(?:\s+[^\s=]+\s*=\s*{_QUOTED})*\s*/?>".encode())
_ATTRIBUTE = re.compile(rf"(\s)([^\s=]+)(\s*=\s*){_QUOTED}")


class Document:
    """A file, its tree, and where in the text each element starts."""

    def __init__(self, path: Path):
        tree = parse_xml(path)
        self.path = path
        self.root = tree.getroot()
        self._encoding = tree.docinfo.encoding or "utf-8"
        self._original = path.read_bytes().decode(self._encoding).encode()
        elements = list(self.root.iter("*"))
        self._attributes = {element: dict(element.attrib) for element in elements}
        self._starts = dict(zip(elements, _starts(self._original), strict=True))

    def text(self) -> str:
        """The original text with the changes made to the tree since."""
        parts, end = [], 0
        for element, start in self._starts.items():
            tag = _START_TAG.match(self._original, start)
            new = [child for child in element.iterchildren("*") if child not in self._starts]
            changed = {k: v for k, v in element.attrib.items() if self._attributes[element].get(k) != v}
            if new or changed:
                rewritten = self._rewritten(tag.group().decode(), element, changed, new)
                parts += [self._original[end:start], rewritten.encode()]
                end = tag.end()
        return b"".join([*parts, self._original[end:]]).decode()

    def write(self, path: Path, check: Callable[[Path], None]) -> None:
        """The text into a file, all or nothing: `check` is called with a temporary file, and may raise."""
        if not path.parent.is_dir():
            raise ModelError(f"{path}: its folder does not exist; make it first")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=path.suffix)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.text().encode(self._encoding))
            shutil.copymode(self.path, temporary)
            check(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def _rewritten(self, tag: str, element: etree._Element, changed: dict[str, str], new: list[etree._Element]) -> str:
        tag = _with_attributes(tag, changed)
        if not new:
            return tag
        outer = self._line_start(element)
        inner = outer + self._indentation()
        added = "".join(self._serialised(child, inner) for child in new)
        if tag.endswith("/>"):
            return f"{tag[:-2].rstrip()}>{added}{outer}</{element.tag}>"
        return tag + added + (outer if len(new) == len(element) and not (element.text or "").strip(" \t") else "")

    def _serialised(self, element: etree._Element, line_start: str) -> str:
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.attrib.items())
        if len(element) == 0:
            return f"{line_start}<{element.tag}{attributes}/>"
        children = "".join(self._serialised(child, line_start + self._indentation()) for child in element)
        return f"{line_start}<{element.tag}{attributes}>{children}{line_start}</{element.tag}>"

    def _line_start(self, element: etree._Element) -> str:
        """The line break and indentation with which an element's line starts."""
        start = self._starts[element]
        line = self._original[self._original.rfind(b"\n", 0, start) + 1 : start].decode()
        newline = "\r\n" if b"\r\n" in self._original else "\n"
        return newline + line[: len(line) - len(line.lstrip(" \t"))]

    def _indentation(self) -> str:
        """One step of the file's indentation."""
        first = next(self.root.iterchildren("*"), None)
        step = "" if first is None else self._line_start(first).strip("\r\n")
        return step or "  "


def _with_attributes(tag: str, values: dict[str, str]) -> str:
    """A start tag with these attributes: those it has in their places, the others at the end."""
    missing = dict(values)

    def assigned(match: re.Match) -> str:
        space, name, equals = match.groups()
        return f"{space}{name}{equals}{quoteattr(missing.pop(name))}" if name in missing else match.group()

    tag = _ATTRIBUTE.sub(assigned, tag)
    added = "".join(f" {name}={quoteattr(value)}" for name, value in missing.items())
    body = tag.removesuffix(">").removesuffix("/").rstrip()
    return body + added + tag[len(body) :]


def _starts(utf8: bytes) -> list[int]:
    """Where the elements of a document start, in document order."""
    found: list[int] = []
    parser = expat.ParserCreate("utf-8")  # whatever the declaration says: the text was decoded and encoded again
    parser.StartElementHandler = lambda *_: found.append(parser.CurrentByteIndex)
    parser.Parse(utf8, True)
    return found
