"""`verify=True`: speech is heard again, quoted words are read in images, and both are compared with what was asked."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image, ImageDraw

from abstractcore import InvalidInputError, MissingExtraError
from abstractcore.capabilities.result_verification import compare_texts, words_of
from abstractcore.ports import Made
from abstractcore.testing import CallStyle
from tests.backend_doubles import WAV, Beeper, WithBackend, call, spoken


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("nine thirty", "9:30"),
        ("twenty-four", "24"),
        ("nineteen ninety", "1990"),
        ("twenty twenty five", "2025"),
        ("two thousand five", "2,005"),
        ("one thousand two hundred and six", "1206"),
        ("two million three hundred thousand", "2,300,000"),
        ("one hundred and twenty three people", "123 people"),
        ("three point five percent", "3.5 %"),
        ("five five five one two one two", "555 1212"),
        ("zero point five", "0.5"),
        ("the nine oh five train", "the 9:05 train"),
        ("forty two dollars and fifty cents", "$42.50"),
        ("one pound", "\u00a31"),
        ("three billion euros", "\u20ac3 billion"),
        ("three point five million dollars", "$3.5 million"),
        ("ten degrees", "10\u00b0"),
        ("twelve kilometers", "12 km"),
        ("Don\u2019t stop!", "don't stop"),
    ],
)
def test_spelling_of_numbers_does_not_count(said: str, written: str):
    assert words_of(said) == words_of(written)
    assert compare_texts(said, written).agreed


def test_other_currency_or_amount_is_an_error():
    assert compare_texts("five dollars", "5 euros").errors == 1
    assert compare_texts("five dollars", "$50").errors == 1
    assert compare_texts("three million", "3 billion").errors == 1


def test_wrong_missing_and_added_words_are_errors():
    found = compare_texts("The train leaves at nine thirty.", "the train leave at 9:40 today")
    assert (found.words, found.errors, found.agreed) == (5, 3, False)
    assert [(each.expected, each.found) for each in found.differences] == [("leaves", "leave"), ("930", "940 today")]
    assert found.word_error_rate == pytest.approx(0.6)
    assert compare_texts("OPEN LATE", "cafe open bar", only_missing=True).errors == 1
    assert compare_texts("", "hm").word_error_rate == 1.0


class Listener:
    """Hears what it is given."""

    heard = "good morning everyone"
    is_local = True

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def transcribe(self, audio: bytes) -> str:
        if self.heard == "nothing":
            raise MissingExtraError("the ears are not installed")
        return self.heard


def test_speech_is_compared_with_what_was_said(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Beeper, audio=Listener)
    result = call(call_style, llm.voice, "tts", "Good morning, everyone!", verify=True)
    assert result.verification.agreed
    assert result.verification.found == "good morning everyone"
    other = call(call_style, llm.voice, "tts", "Good evening, everyone!", verify=True)
    assert [(each.expected, each.found) for each in other.verification.differences] == [("evening", "morning")]
    assert call(call_style, llm.voice, "tts", "Good evening").verification is None


def test_speech_that_cannot_be_heard_is_returned_with_a_warning(call_style: CallStyle, with_backend: WithBackend):
    class Deaf(Listener):
        heard = "nothing"

    llm = with_backend(voice=Beeper, audio=Deaf)
    result = call(call_style, llm.voice, "tts", "Hello", verify=True)
    assert (result.part.blob.read(), result.verification) == (WAV, None)
    assert [(each.code, each.path) for each in result.warnings] == [("not_verified", "verify")]
    assert "the ears are not installed" in result.warnings[0].message


def test_streams_are_not_verified(call_style: CallStyle, with_backend: WithBackend):
    with pytest.raises(InvalidInputError, match="verify: is not for streams"):
        spoken(call_style, with_backend(voice=Beeper).voice, "Hello", verify=True)


class SignPainter:
    """Paints the same sign."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def t2i(self, prompt: str) -> Made:
        image = Image.new("RGB", (640, 200), "white")
        ImageDraw.Draw(image).text((40, 60), "OPEN LATE", fill="black", font_size=80)
        out = io.BytesIO()
        image.save(out, "PNG")
        return Made.of(out.getvalue(), "image/png")


@pytest.mark.weights
def test_quoted_words_are_read_in_the_image(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(vision=SignPainter)
    right = call(call_style, llm.vision, "t2i", 'A shop with the sign "Open late"', verify=True)
    assert (right.verification.agreed, right.verification.expected) == (True, "Open late")
    wrong = call(call_style, llm.vision, "t2i", 'A shop with the sign "Closed"', verify=True)
    assert (wrong.verification.errors, wrong.verification.words) == (1, 1)
    unquoted = call(call_style, llm.vision, "t2i", "It's the baker's shop", verify=True)
    assert unquoted.verification is None
    assert unquoted.warnings[0].message == "the prompt quotes no text that is to be in the image"
