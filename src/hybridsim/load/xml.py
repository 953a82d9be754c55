"""Robot files are XML from strangers: read them without following entities, and say where they are broken."""

from pathlib import Path

from lxml import etree

from ..model import ModelError
from ..reading import check_file
from .limits import LARGEST_XML


def parse_xml(path: Path) -> etree._ElementTree:
    """The document with its comments, white space and line numbers. Raises `ModelError` if it cannot be read."""
    try:
        check_file(path, LARGEST_XML, ModelError)
        text = path.read_bytes()
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file; the current folder is {Path.cwd()}") from None
    except OSError as error:
        raise ModelError(f"{path}: it cannot be read ({error.strerror}); give the path of a readable file") from None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(text, parser, base_url=str(path)).getroottree()
    except etree.XMLSyntaxError as error:
        raise ModelError(f"{path}, line {error.lineno}: broken XML: {error.msg}; {_fix(text, error.msg)}") from None
    _refuse_entities(path, tree)
    return tree


def line_of(element: etree._Element) -> str:
    """The place of an element, as messages name it."""
    return f"line {element.sourceline}"


def _fix(text: bytes, problem: str) -> str:
    if not text.strip():
        return "the file is empty"
    if not text.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<"):
        return "the file does not look like XML; give a URDF or MJCF file"
    if b"<!ENTITY" in text:
        return "write the text of its XML entities out instead of declaring them"
    if problem.startswith("Namespace"):
        return 'declare the prefix in the root element (xmlns:prefix="...") or remove it'
    return "every element must be closed, every attribute quoted, and & written as &amp;"


def _refuse_entities(path: Path, tree: etree._ElementTree) -> None:
    """Entities can make a small file expand without bound or read other files; no robot needs them."""
    dtd = tree.docinfo.internalDTD
    if dtd is not None and (names := [entity.name for entity in dtd.iterentities()]):
        raise ModelError(f"{path}: it declares the XML entities {', '.join(names)}; write their text out instead")
