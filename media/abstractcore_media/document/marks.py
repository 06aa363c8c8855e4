"""Marks of words in Markdown: superscript and subscript, words struck through, and readings beside their base."""

from __future__ import annotations

from dataclasses import dataclass

_SUPERSCRIPTS = str.maketrans("0123456789+-\N{MINUS SIGN}=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPTS = str.maketrans("0123456789+-\N{MINUS SIGN}=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


@dataclass(frozen=True, slots=True)
class Marks:
    """How words are set. `rise` is "sup", "sub" or ""."""

    rise: str = ""
    is_struck: bool = False


PLAIN = Marks()


@dataclass(frozen=True, slots=True)
class RunProperties:
    """How the words of a run are set; None where the run leaves it open."""

    rise: str | None = None
    is_struck: bool | None = None
    is_hidden: bool | None = None

    def over(self, base: RunProperties) -> RunProperties:
        """Returns these properties, and those of `base` where there are none."""
        return RunProperties(
            base.rise if self.rise is None else self.rise,
            base.is_struck if self.is_struck is None else self.is_struck,
            base.is_hidden if self.is_hidden is None else self.is_hidden,
        )


NO_PROPERTIES = RunProperties()


class MarkedText:
    """Collects the runs of a text; neighbours of the same marks are one piece."""

    def __init__(self) -> None:
        self._pieces: list[tuple[list[str], Marks]] = []

    def add(self, text: str, marks: Marks = PLAIN) -> None:
        """Adds a run."""
        if not text:
            return
        if self._pieces and (self._pieces[-1][1] is marks or self._pieces[-1][1] == marks):
            self._pieces[-1][0].append(text)
        else:
            self._pieces.append(([text], marks))

    def taken(self) -> str:
        """Returns the text so far, and begins another one."""
        pieces, self._pieces = self._pieces, []
        return "".join(marked("".join(texts), marks) for texts, marks in pieces)


def marked(text: str, marks: Marks) -> str:
    """Returns a text with its marks: 10⁵, <sup>th</sup>, ~~99~~; white space around it stays outside of them."""
    if not (marks.rise or marks.is_struck) or not (words := text.strip()):
        return text
    before, _, after = text.partition(words)
    if marks.rise:
        table = _SUPERSCRIPTS if marks.rise == "sup" else _SUBSCRIPTS
        has_all = all(ord(character) in table for character in words)
        words = words.translate(table) if has_all else f"<{marks.rise}>{words}</{marks.rise}>"
    return f"{before}~~{words}~~{after}" if marks.is_struck else f"{before}{words}{after}"


def with_reading(base: str, reading: str) -> str:
    """Returns words of an East Asian language with their reading after them: 漢字(かんじ)."""
    reading = reading.strip()
    return f"{base}({reading})" if reading else base
