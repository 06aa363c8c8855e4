"""Where utterances begin and end in sound that arrives in blocks."""

from __future__ import annotations

import array
import math
import random
from collections.abc import Iterator

import pytest

from abstractcore_cli.talking.devices import BLOCK, RATE, SpeechEnds

SECOND = RATE


def noise(seconds: float, level: float) -> list[int]:
    """Noise of a level."""
    source = random.Random(1)
    return [round(source.gauss(0, level)) for _ in range(round(seconds * RATE))]


def voice(seconds: float, level: float = 4000) -> list[int]:
    """A tone with syllables."""
    return [round(level * math.sin(n / 8) * (0.6 + 0.4 * math.sin(n / 900))) for n in range(round(seconds * RATE))]


def utterances(*sounds: list[int], pause: float = 0.8) -> list[float]:
    """The lengths in seconds of the utterances that are found."""
    ends = SpeechEnds(pause)
    found = [said for block in blocks([sample for sound in sounds for sample in sound]) if (said := ends.feed(block))]
    rest = ends.finish()
    return [len(said) / 2 / RATE for said in [*found, *([rest] if rest else [])]]


def blocks(samples: list[int]) -> Iterator[bytes]:
    for start in range(0, len(samples), BLOCK):
        yield array.array("h", samples[start : start + BLOCK]).tobytes()


def test_utterance_ends_after_a_pause_and_has_its_beginning():
    (length,) = utterances(noise(1, 20), voice(1.5), noise(2, 20))
    assert length == pytest.approx(1.5 + 0.8 + 0.2, abs=0.15)


def test_short_pauses_belong_to_an_utterance():
    (length,) = utterances(noise(0.5, 20), voice(0.7), noise(0.5, 20), voice(0.7), noise(1.5, 20))
    assert length > 1.9 + 0.8


def test_two_utterances_are_two():
    assert len(utterances(noise(0.5, 20), voice(1), noise(1.5, 20), voice(1), noise(1.5, 20))) == 2


@pytest.mark.parametrize("level", [0, 20, 400, 1500])
def test_noise_alone_is_no_utterance(level: int):
    assert utterances(noise(3, level)) == []


def test_voice_above_loud_noise_is_found():
    (length,) = utterances(noise(1, 400), voice(1.5, 6000), noise(2, 400))
    assert 1.5 < length < 3


def test_click_is_no_utterance():
    assert utterances(noise(1, 20), [20_000] * 200, noise(1, 20)) == []


def test_utterance_without_end_ends_after_a_minute():
    lengths = utterances(noise(0.5, 20), voice(70))
    assert lengths[0] == pytest.approx(60, abs=0.1)


def test_end_of_the_sound_ends_the_utterance():
    (length,) = utterances(noise(0.5, 20), voice(1))
    assert length == pytest.approx(1.2, abs=0.15)


def test_half_a_sample_is_ignored():
    assert SpeechEnds().feed(b"\x01") is None
    assert SpeechEnds().feed(b"") is None
