"""Code, paths and addresses as words: `get_user(id)` becomes "get user id"."""

from __future__ import annotations

import re

from .tables import one_of, table

_SIGNS = table("code_signs")
_SIGN = re.compile(one_of(_SIGNS))
_SILENT = re.compile(r"[_()\[\]{}\"'`;!?]+")
_SENTENCE_DOT = re.compile(r"\.(?=\s|$)")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_OPTION = re.compile(r"(?<!\S)-(?=[A-Za-z])")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LONGEST_PATH = 40
_LANGUAGES = table("code_languages")
_LONGEST_LINE = 80


def code_words(code: str) -> str:
    """Returns code of a line as words: names are split, and signs have names."""
    text = _OPTION.sub(" dash ", _SENTENCE_DOT.sub("", code))
    text = _HUMPS.sub(" ", _SILENT.sub(" ", text))
    text = _SIGN.sub(lambda sign: f" {_SIGNS[sign[0]]} ", text)
    return " ".join(text.split())


def address_words(address: str) -> str:
    """Returns a URL or an e-mail address as words: its host, and the path if it is short."""
    rest = _SCHEME.sub("", address).removeprefix("mailto:")
    rest = re.split(r"[?#]", rest, maxsplit=1)[0].rstrip("/")
    host, slash, path = rest.partition("/")
    host = host.removeprefix("www.")
    shown = f"{host}/{path}" if slash and len(path) <= _LONGEST_PATH else host
    return code_words(shown.replace("-", " ").replace(":", " colon "))


def block_words(about: str) -> str:
    """Returns the words in place of a block of code, of its language, number of lines and only line."""
    language, lines, only = about.split("\n", 2)
    named = _LANGUAGES.get(language.lower(), language if language.isalpha() else "")
    if only and len(only) <= _LONGEST_LINE:
        return f"{code_words(only)}."
    if lines == "0":
        return ""
    what = f"{named} code block" if named else "code block"
    article = "An" if what.startswith(("HTML", "XML", "SQL")) else "A"
    return f"{article} {what} of {lines} {'line' if lines == '1' else 'lines'}."
