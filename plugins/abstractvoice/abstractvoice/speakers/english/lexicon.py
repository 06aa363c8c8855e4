"""`Lexicon`: the phonemes of English words: a list, and a model for other words, of the package gruut_lang_en."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pycrfsuite  # pyright: ignore[reportMissingTypeStubs]

from abstractcore import MissingExtraError
from abstractcore.schema import install_hint

Phonemes = tuple[str, ...]
_REACH = 3
"""Letters on each side of a letter that the model for unknown words looks at."""
_NO_SOUND = "_"


class Lexicon:
    """The words and the model, loaded once: 0.2 s, 30 MB. Usable from several threads."""

    def __init__(self, folder: Path) -> None:
        words = sqlite3.connect(f"{(folder / 'lexicon.db').as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            rows: list[tuple[str, str]] = words.execute(
                "SELECT word, phonemes FROM word_phonemes WHERE pron_order = 0"
            ).fetchall()
        finally:
            words.close()
        self._words = dict(rows)
        self._model = folder / "g2p" / "model.crf"

    @classmethod
    def load(cls) -> Lexicon:
        """Returns the lexicon with the phonemes of eSpeak, which the voices were trained with."""
        return _loaded()

    def word(self, word: str) -> Phonemes | None:
        """Returns the phonemes of a word in lower case; None if it is not in the list."""
        found = self._words.get(word)
        return tuple(found.split()) if found is not None else None

    def guess(self, word: str) -> Phonemes:
        """Returns the phonemes of a word in lower case by its letters."""
        # One for each call: it keeps the word that it looks at.
        tagger: Any = cast(Any, pycrfsuite).Tagger()
        tagger.open(str(self._model))
        found: Sequence[str] = tagger.tag(_features(word))
        phonemes = [each for code in found for each in base64.b64decode(code).decode().split("|")]
        return tuple(each for each in phonemes if each != _NO_SOUND)


@cache
def _loaded() -> Lexicon:
    package = find_spec("gruut_lang_en")
    if package is None or not package.submodule_search_locations:
        raise MissingExtraError("the list of English words is not installed", hint=install_hint("gruut-lang-en"))
    return Lexicon(Path(package.submodule_search_locations[0]) / "espeak")


def _features(word: str) -> list[dict[str, str | bool | float]]:
    """Returns the features of each letter: the letter, its neighbours, and whether it is the first or last."""
    letters = [base64.b64encode(letter.encode()).decode() for letter in word]
    rows: list[dict[str, str | bool | float]] = []
    for place, letter in enumerate(letters):
        row: dict[str, str | bool | float] = {"bias": 1.0, "grapheme": letter}
        for distance in range(1, _REACH + 1):
            if place >= distance:
                row[f"grapheme-{distance}"] = letters[place - distance]
            if place + distance < len(letters):
                row[f"grapheme+{distance}"] = letters[place + distance]
        if place == 0:
            row["begin"] = True
        if place == len(letters) - 1:
            row["end"] = True
        rows.append(row)
    return rows
