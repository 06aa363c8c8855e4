"""Quotes values and texts in error messages: always short, and without raising errors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

_LONGEST_VALUE: Final = 80
_LONGEST_FILE_NAME: Final = 255
_JOINERS: Final = "\u200c\u200d"
"""Emoji and many languages need them."""
_LONG_RUN = re.compile(r"\S{401,}")
_LONGEST_WHOLE_NUMBER = 10 ** (_LONGEST_VALUE + 1)
_USER_INFO = re.compile(r"(?<=//)[^/]*@")
_TEXTS: frozenset[Any] = frozenset({str.__repr__, bytes.__repr__, bytearray.__repr__})
_BRACKETS: dict[Any, tuple[str, str]] = {
    cast(Any, list).__repr__: ("[", "]"),
    cast(Any, tuple).__repr__: ("(", ")"),
    cast(Any, set).__repr__: ("{", "}"),
    cast(Any, frozenset).__repr__: ("frozenset({", "})"),
}


def shown(value: object) -> str:
    """Returns the first 80 characters of the value's repr, computing no more of a large value than these."""
    pieces: list[str] = []
    size = 0
    try:
        for piece in _written(value):
            pieces.append(piece)
            size += len(piece)
            if size > _LONGEST_VALUE:
                return f"{''.join(pieces)[:_LONGEST_VALUE]}..."
    except Exception:
        return f"a {type(value).__name__}"
    return "".join(pieces)


def shortened(text: str, longest: int) -> str:
    """Returns the beginning and the end of an untrusted text, about `longest` characters at most.

    Of a run of more than 400 characters without a space (base64, for example) at most 150 are kept.
    """
    text = _LONG_RUN.sub(_ends, text)
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end]} [... {len(text) - longest:,} characters ...] {text[-end:]}"


def _ends(run: re.Match[str]) -> str:
    return f"{run[0][:100]}...{run[0][-50:]}"


def shown_address(url: str) -> str:
    """Returns a URL without user, password, query and fragment, which may hold secrets."""
    return _USER_INFO.sub("", re.split("[?#]", url, maxsplit=1)[0], count=1)


def one_line(text: str, longest: int = 200) -> str:
    """Returns an untrusted text on one line; its repr if it has unprintable characters."""
    return shortened(text if text.isprintable() else repr(text), longest)


def shown_file_name(name: str) -> str:
    """Returns an untrusted file name on one short line, without invisible characters, such as those that reverse the
    order of letters; control characters are replaced by their pictures, others that cannot be shown by a mark.
    """
    text = " ".join(name.split())
    if not text.isprintable():
        text = "".join(map(_visible, text))
    return shortened(text, _LONGEST_FILE_NAME)


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if ord(character) < 0x20:
        return chr(0x2400 + ord(character))
    return "" if unicodedata.category(character) == "Cf" else "\ufffd"


def shown_seconds(seconds: float) -> str:
    """Returns a duration for messages, as in `0.25 s`, `3.5 s` or `120 s`."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _written(value: Any) -> Iterator[str]:
    """Yields `repr(value)` in pieces. The reader stops early, which also ends a value that contains itself."""
    kind = cast(Any, type(value))
    if kind.__repr__ in _TEXTS:
        yield repr(value[: _LONGEST_VALUE + 1])
    elif kind is memoryview:
        yield f"a memoryview of {value.nbytes:,} bytes"
    elif kind is int and not -_LONGEST_WHOLE_NUMBER < value < _LONGEST_WHOLE_NUMBER:
        yield f"an integer of {value.bit_length():,} bits"
    elif kind.__repr__ is cast(Any, dict).__repr__:
        yield from _entries("{", ((_written(key), ": ", item) for key, item in value.items()), "}")
    elif kind.__repr__ in _BRACKETS and value:
        opening, closing = _BRACKETS[kind.__repr__]
        closing = ",)" if opening == "(" and len(value) == 1 else closing
        yield from _entries(opening, (((), "", item) for item in value), closing)
    elif is_dataclass(value) and hasattr(kind.__repr__, "__wrapped__"):
        names = [field.name for field in fields(value) if field.repr]
        yield from _entries(f"{kind.__qualname__}(", (((name,), "=", getattr(value, name)) for name in names), ")")
    else:
        yield repr(value)


def _entries(opening: str, entries: Iterable[tuple[Iterable[str], str, Any]], closing: str) -> Iterator[str]:
    yield opening
    joint = ""
    for name, sign, value in entries:
        yield joint
        yield from name
        yield sign
        yield from _written(value)
        joint = ", "
    yield closing
