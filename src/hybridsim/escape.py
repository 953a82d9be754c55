"""Names from files, made harmless in the text that HybridSim writes.

A joint, column or file may be called anything: a quote that ends a string, a comment end, a trigraph, an escape sequence
that moves the cursor. Every name that reaches C, Python, TOML, a page or a terminal goes through one of these functions.
"""

import re
import unicodedata

_HARMLESS_IN_C = re.compile(rb"[^A-Za-z0-9_ .-]")
_NOT_ASCII_TEXT = re.compile(r"[^ -~]")


def in_c(text: str) -> str:
    """The inside of a C string or comment: letters, digits, "_", ".", "-" and blanks stay, every other byte is octal.

    Octal escapes end after three digits, so that they cannot swallow what follows; trigraphs, line splices and comment ends
    need characters that are not left. A null byte would end the string early, and is a ValueError.
    """
    if "\0" in text:
        raise ValueError(f"the name {text!r} has a null character in it, which ends a text in C; rename it")
    escaped = _HARMLESS_IN_C.sub(lambda byte: b"\\%03o" % ord(byte.group()), text.encode("utf-8", "surrogatepass"))
    return escaped.decode("ascii")


def in_python(text: str) -> str:
    """A Python literal, in ASCII: quotes, backslashes, controls and invisible characters are escaped."""
    return ascii(text)


def in_toml(text: str) -> str:
    """A basic string of TOML. What is no Unicode text, such as a file name with stray bytes, is a ValueError."""
    if re.search("[\ud800-\udfff]", text):
        raise ValueError(f"the name {text!r} is not valid Unicode, so no TOML file can hold it; rename it")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{on_one_line(escaped)}"'


def on_one_line(text: str) -> str:
    """Text for one line of a comment or message: as `for_people`, with line breaks and tabs escaped too."""
    return _NOT_ASCII_TEXT.sub(lambda found: _visible(found.group()), text)


def for_people(text: str) -> str:
    """Text for a page or a terminal: control characters, and characters that only change how others are shown (such as
    the direction of writing), become visible escapes like \\u001b; line breaks and tabs stay."""
    return _NOT_ASCII_TEXT.sub(lambda found: c if (c := found.group()) in "\n\t" else _visible(c), text)


def shortened(value: object, longest: int = 100) -> str:
    """A value as Python writes it, for a message; cut where it is long."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[:longest]}..."


def _visible(character: str) -> str:
    """The character itself if a reader sees it as such, or as a blank of some width."""
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
