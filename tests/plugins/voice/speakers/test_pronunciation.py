"""English words as phonemes."""

from __future__ import annotations

import pytest

from abstractvoice.speakers.english import Lexicon, pronounced


def said(text: str) -> str:
    """The phonemes of a text, with spaces between words."""
    words, _ = pronounced(text, Lexicon.load())
    return " ".join("".join(word.phonemes) or word.mark for word in words)


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("The train.", "\u00f0\u0259 t\u0279\u02c8e\u026an ."),
        ("The apple", "\u00f0\u026a \u02c8\u00e6p\u0259l"),
        ("put it in", "p\u02cc\u028at \u026a\u027e \u026an"),
        ("NASA", "n\u02c8\u00e6s\u0250"),
        ("US", "j\u02ccu\u02d0\u02c8\u025bs"),
        ("us", "\u02cc\u028cs"),
        ("HTTP", "\u02cce\u026at\u0283t\u02cci\u02d0t\u02cci\u02d0p\u02c8i\u02d0"),
        ("A B", "\u0250 b\u02c8i\u02d0"),
        ("DVDs", "d\u02cci\u02d0v\u02cci\u02d0d\u02c8i\u02d0z"),
        ("trainhouse", "t\u0279\u02c8e\u026anh\u02cca\u028as"),
        ("S\u00f8ren's caf\u00e9", "s\u02c8o\u02d0\u0279\u0259nz k\u02c8\u00e6fe\u026a"),
        ("don\u2019t", "d\u02c8o\u028ant"),
        ("well-known", "w\u02c8\u025bl n\u02c8o\u028an"),
    ],
)
def test_word_has_these_phonemes(text: str, phonemes: str) -> None:
    assert said(text) == phonemes


def test_unknown_words_are_guessed_by_their_letters() -> None:
    assert said("blorptastic").startswith("bl")
    assert len(said("x" * 500).replace(" ", "")) > 100


def test_words_of_other_alphabets_are_named() -> None:
    text = "Say \u4f60\u597d or \u041f\u0440\u0438\u0432\u0435\u0442."
    words, left_out = pronounced(text, Lexicon.load())
    assert [text[start:end] for start, end in left_out] == ["\u4f60\u597d", "\u041f\u0440\u0438\u0432\u0435\u0442"]
    assert [text[word.start : word.end] for word in words] == ["Say", "or", "."]
