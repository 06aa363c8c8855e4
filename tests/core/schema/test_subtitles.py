"""Subtitles of transcripts, read back by FFmpeg: cues, their lines and times, speakers, odd texts."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import SchemaError, Transcript, TranscriptSegment, TranscriptWord

LONG = (
    "Good morning, the meeting starts at ten on Tuesday, in room twelve. Please bring the budget report, two copies "
    "of the contract, and whatever you need to write, since it will take the whole day."
)


def read_back(text: str, name: str) -> list[tuple[float, float, str]]:
    """The cues that FFmpeg finds: start, end and text."""
    found: list[tuple[float, float, str]] = []
    with av.open(io.BytesIO(text.encode()), format=name) as container:
        opened: Any = container
        for packet in opened.demux():
            if packet.pts is not None:
                start, length = float(packet.pts * packet.time_base), float(packet.duration * packet.time_base)
                found.append((start, start + length, bytes(packet).decode()))
    return found


def spoken_by(*said: tuple[str | None, str]) -> Transcript:
    """A transcript of segments of 2 seconds each."""
    return Transcript(
        tuple(TranscriptSegment(text, 2.0 * n, 2.0 * n + 1.5, speaker=who) for n, (who, text) in enumerate(said))
    )


def timed(text: str, seconds: float) -> Transcript:
    """A transcript whose words take `seconds` each."""
    texts = text.split()
    words = tuple(TranscriptWord(word, n * seconds, (n + 1) * seconds) for n, word in enumerate(texts))
    return Transcript((TranscriptSegment(text, 0, seconds * len(texts), words),))


@pytest.mark.parametrize("name", ["srt", "webvtt"])
def test_segments_are_cues_with_their_times(name: str):
    transcript = spoken_by((None, "Hello."), (None, "  "), (None, "Good\nmorning."))
    text = transcript.as_srt() if name == "srt" else transcript.as_vtt()
    assert read_back(text, name) == [(0.0, 1.5, "Hello."), (4.0, 5.5, "Good morning.")]


def test_times_have_hours_and_milliseconds():
    transcript = Transcript((TranscriptSegment("Hm.", 3_661.0416, 36_000.9996),))
    assert transcript.as_srt() == "1\n01:01:01,042 --> 10:00:01,000\nHm.\n"
    assert transcript.as_vtt() == "WEBVTT\n\n01:01:01.042 --> 10:00:01.000\nHm.\n"


@pytest.mark.parametrize("words", [True, False])
def test_long_segment_becomes_cues_of_two_lines(words: bool):
    transcript = timed(LONG, 0.4) if words else Transcript((TranscriptSegment(LONG, 0, 14.0),))
    cues = read_back(transcript.as_srt(), "srt")
    assert " ".join(" ".join(text.split()) for _, _, text in cues) == LONG
    assert len(cues) > 2
    assert all(len(text) <= 84 and text.count("\n") <= 1 for _, _, text in cues)
    assert all(0 < end - start <= 7.01 for start, end, _ in cues)
    assert all(before[1] <= after[0] + 0.001 for before, after in pairwise(cues))
    assert cues[0][2].replace("\n", " ").endswith(",")  # cues end with a clause where they can


def test_pause_within_a_segment_ends_the_cue():
    words = (TranscriptWord("One.", 0, 0.5), TranscriptWord("Two.", 3.0, 3.5))
    transcript = Transcript((TranscriptSegment("One. Two.", 0, 3.5, words),))
    assert read_back(transcript.as_srt(), "srt") == [(0.0, 0.5, "One."), (3.0, 3.5, "Two.")]


def test_speakers_are_named_when_they_change_and_voices_in_webvtt():
    transcript = spoken_by(("Ann", "Hello."), ("Ann", "Bob?"), ("Bob", "Yes."))
    assert [text for _, _, text in read_back(transcript.as_srt(), "srt")] == ["Ann: Hello.", "Bob?", "Bob: Yes."]
    assert transcript.as_vtt().splitlines()[3] == "<v Ann>Hello."


def test_text_cannot_be_taken_for_times_or_tags():
    transcript = spoken_by(("A>B", "1\n\n00:00:01.000 --> 00:00:02.000 <i>& so on"))
    assert transcript.as_vtt() == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v A&gt;B>1 00:00:01.000 --&gt; 00:00:02.000 &lt;i&gt;&amp; so on\n"
    )
    assert len(read_back(transcript.as_vtt(), "webvtt")) == 1


def test_word_that_takes_no_time_is_shown():
    transcript = Transcript((TranscriptSegment("Oh.", 1.0, 1.0, (TranscriptWord("Oh.", 1.0, 1.0),)),))
    assert transcript.as_srt() == "1\n00:00:01,000 --> 00:00:01,001\nOh.\n"


def test_transcript_without_times_is_an_error_and_without_words_empty():
    with pytest.raises(SchemaError, match="subtitles need times, which this transcript does not have"):
        Transcript((TranscriptSegment("Hello."),)).as_srt()
    assert (Transcript().as_srt(), Transcript().as_vtt()) == ("", "WEBVTT\n")


@given(st.text(min_size=1, max_size=300), st.booleans())
def test_every_letter_is_in_one_cue(text: str, words: bool):
    transcript = timed(text, 0.3) if words else Transcript((TranscriptSegment(text, 0, 30),))
    blocks = filter(None, transcript.as_srt().split("\n\n"))
    shown = "".join("".join(block.split("\n")[2:]) for block in blocks)
    assert "".join(shown.split()) == "".join(text.split())
