"""Escapes in the strings of JSON and Python."""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL)
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_PYTHON: Final = {"a": "\a", "v": "\v", "\n": ""}
_PAIRS: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def unescaped(text: str, *, python: bool) -> str:
    """Returns the content of a string literal; an unknown escape stays as it is."""
    if "\\" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:], 16))
        if python and len(code) > 1 and code[0] in "xU":
            number = int(code[1:], 16)
            return chr(number) if number < 0x110000 else match[0]
        if python and code[0].isdigit():
            return chr(int(code, 8))
        short = _SHORT.get(code) if code in _SHORT else _PYTHON.get(code) if python else None
        return match[0] if short is None else short

    whole = _ESCAPE.sub(replaced, text)
    return _PAIRS.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), whole)
