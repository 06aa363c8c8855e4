"""The words of an English sentence as phonemes, in eSpeak's alphabet."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from .lexicon import Lexicon, Phonemes

_TOKEN = re.compile(r"(?P<word>[^\W\d_]+(?:['\u2019][^\W\d_]+)*['\u2019]?)|(?P<mark>[.,;:!?\u2026])|\S")
_VOWELS = "aeiou\u0251\u0250\u0252\u00e6\u0254\u0259\u025a\u025b\u025c\u026a\u028a\u028c\u1d7b"
_TABLES = tomllib.loads(Path(__file__).with_name("letters.toml").read_text(encoding="utf-8"))
_LETTERS: dict[str, str] = _TABLES["plain"]
_NAMES: dict[str, str] = _TABLES["names"]
_LONGEST_ACRONYM = 5
_PLURAL = re.compile(r"(?<=[A-Z])'?s$")
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class PronouncedWord:
    """A word with its phonemes, or a mark, and the characters of the text that it stands for."""

    phonemes: Phonemes
    start: int
    end: int
    mark: str = ""


def pronounced(text: str, lexicon: Lexicon) -> tuple[list[PronouncedWord], list[tuple[int, int]]]:
    """Returns words and marks of a text with phonemes, and where words are left out: those of other alphabets."""
    said: list[PronouncedWord] = []
    left_out: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        if token["mark"]:
            said.append(PronouncedWord((), *token.span(), token["mark"]))
        elif token["word"]:
            phonemes = _word(token["word"], lexicon)
            if phonemes:
                said.append(PronouncedWord(phonemes, *token.span()))
            else:
                left_out.append(token.span())
        elif token[0].isalnum():
            left_out.append(token.span())
    return [
        _in_context(each, said[place + 1] if place + 1 < len(said) else None) for place, each in enumerate(said)
    ], left_out


def _word(written: str, lexicon: Lexicon) -> Phonemes:
    """Returns the phonemes of a word; none if it has letters other than Latin ones."""
    word = written.replace("\u2019", "'")
    known = lexicon.word(word.lower())
    if _is_acronym(word, known is not None):
        return _spelled(_PLURAL.sub("'s", word).lower())
    if known is not None:
        return known
    plain = latin(word)
    if not plain:
        return ()
    lower = plain.lower()
    return lexicon.word(lower) or _possessive(lower, lexicon) or _guessed(lower.replace("'", ""), lexicon)


def _is_acronym(word: str, is_word: bool) -> bool:
    """Returns whether a word is said letter by letter: all capitals, and not one that is read as a word."""
    letters = _PLURAL.sub("", word)
    if not (letters.isascii() and letters.isalpha() and letters.isupper()):
        return False
    if len(letters) == 1:
        return letters not in ("A", "I")
    return len(letters) <= 2 or (len(letters) <= _LONGEST_ACRONYM and not is_word)


def _spelled(word: str) -> Phonemes:
    letters, _, ending = word.partition("'")
    before = " ".join(_NAMES[letter] for letter in letters[:-1]).replace("\u02c8", "\u02cc").split()
    phonemes = (*before, *_NAMES[letters[-1]].split())
    return (*phonemes, "z") if ending else phonemes


def _possessive(word: str, lexicon: Lexicon) -> Phonemes | None:
    owner = word.removesuffix("'s").removesuffix("'")
    if owner == word:
        return None
    phonemes = lexicon.word(owner) or _guessed(owner, lexicon)
    if not word.endswith("'s") or not phonemes:
        return phonemes
    last = phonemes[-1]
    if last in ("s", "z", "\u0283", "\u0292"):
        return (*phonemes, "\u1d7b", "z")
    return (*phonemes, "s" if last in ("p", "t", "k", "f", "\u03b8") else "z")


def _guessed(word: str, lexicon: Lexicon) -> Phonemes:
    """Returns the phonemes of an unknown word, of the two known words that it is made of if there are some."""
    for cut in range(len(word) - 3, 2, -1):
        first, second = lexicon.word(word[:cut]), lexicon.word(word[cut:])
        if first is not None and second is not None and min(cut, len(word) - cut) >= 3:
            return first + tuple(each.replace("\u02c8", "\u02cc") for each in second)
    parts = [word[place : place + _LONGEST_WORD] for place in range(0, len(word), _LONGEST_WORD)]
    return tuple(phoneme for part in parts for phoneme in lexicon.guess(part))


def latin(word: str) -> str:
    """Returns a word without accents; an empty text if it has letters of another alphabet."""
    letters = "".join(_LETTERS.get(letter.lower(), letter) for letter in word)
    plain = "".join(each for each in unicodedata.normalize("NFKD", letters) if not unicodedata.combining(each))
    return plain if plain.isascii() else ""


def _in_context(said: PronouncedWord, following: PronouncedWord | None) -> PronouncedWord:
    """Returns a word as it sounds before the next one."""
    if not said.phonemes:
        return said
    first = following.phonemes[0].lstrip("\u02c8\u02cc") if following is not None and following.phonemes else ""
    before_vowel = bool(first) and first[0] in _VOWELS
    if said.phonemes == ("\u00f0", "\u0259") and before_vowel:
        return PronouncedWord(("\u00f0", "\u026a"), said.start, said.end)
    if said.phonemes[-1] == "\u027e" and not before_vowel:
        return PronouncedWord((*said.phonemes[:-1], "t"), said.start, said.end)
    return said
