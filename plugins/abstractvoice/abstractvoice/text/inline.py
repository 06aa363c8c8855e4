"""Marks inside a line of Markdown taken away: emphasis, links, code, tags, addresses, formulas."""

from __future__ import annotations

import html
import re

from .code import address_words, code_words
from .emoji import EMOJI, emoji_words
from .formulas import formula_words
from .mapped import MappedText

_CODE = re.compile(r"(?P<ticks>`{1,20}+)(?P<code>[^`\n](?:[^\n]{0,500}?[^`\n])?)(?P=ticks)(?!`)")
_FORMULA = re.compile(
    r"\\\((?P<a>.{1,500}?)\\\)|\$\$(?P<b>.{1,500}?)\$\$|\$(?P<c>(?![\s\d])[^$\n\\^_={]*+[\\^_={][^$\n]*+(?<!\s))\$(?!\d)"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_ANGLE_LINK = re.compile(r"<(?P<url>(?:https?://|mailto:)[^\s<>]+|[\w.+-]+@[\w-]+\.[\w.-]+)>")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_IMAGE = re.compile(r"!\[(?P<alt>[^\]\n]{0,500})\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,500}\])?")
_LINK = re.compile(r"(?<!\!)\[(?P<text>[^\]\n]{1,500})\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,500}\])")
_NOTE = re.compile(
    r"\[\^[^\]\s]{1,20}\]|(?<=[\w.!?,;:\"')])\s?\[\d{1,3}(?:[,\u2013-]\s?\d{1,3})*\]|\u3010[^\u3011\n]{1,80}\u3011"
)
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"\u201d]*[^\s<>\"\u201d.,;:!?)\]*_~'\u2019]", re.IGNORECASE)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
_PATH = re.compile(r"(?<![\w/.])(?:~|\.{1,2})?/[\w.-]*[\w-](?:/[\w.-]*[\w-])*/?(?!\w)")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ESCAPE = re.compile(r"\\(?P<mark>[!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|~~|(?<!\w)_+(?=\w)|(?<=[\w.,:;!?)])_+(?!\w)")
_TIMES = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_SNAKE = re.compile(r"\b(?!\d+_\d)[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z]+)+\b|\b\w+\(\)")
_LINES = re.compile(r"(?<!\s)\s*\n\s*")


def plain(content: MappedText) -> MappedText:
    """Returns a passage as plain text, in which all that has no sound is left out or named."""
    text = content.sub(_COMMENT, lambda _: "")
    text = text.sub(_CODE, lambda code: code_words(code["code"]))
    text = text.sub(_FORMULA, lambda found: formula_words(found["a"] or found["b"] or found["c"]))
    text = text.sub(_ANGLE_LINK, lambda link: address_words(link["url"]))
    text = text.sub(_BREAK, lambda _: ", ").sub(_TAG, lambda _: "")
    text = _with_parts(text, _IMAGE, "alt")
    text = _with_parts(text, _LINK, "text")
    text = text.sub(_NOTE, lambda _: "")
    text = text.sub(_URL, lambda url: address_words(url[0])).sub(_MAIL, lambda mail: address_words(mail[0]))
    text = text.sub(_TIMES, lambda _: " times ").sub(_EMPHASIS, lambda _: "")
    text = text.sub(_PATH, lambda path: code_words(path[0])).sub(_SNAKE, lambda name: code_words(name[0]))
    text = text.sub(_ENTITY, lambda entity: html.unescape(entity[0]))
    text = _with_parts(text, _ESCAPE, "mark")
    text = text.sub(EMOJI, lambda found: f" {emoji_words(found[0])} ")
    return text.sub(_LINES, lambda _: " ")


def _with_parts(text: MappedText, pattern: re.Pattern[str], group: str) -> MappedText:
    """Returns the text with each match replaced by one of its groups, whose characters keep their places."""
    return text.sub(pattern, lambda match: text.part(match, group))
