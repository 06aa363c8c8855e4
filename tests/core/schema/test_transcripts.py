"""Transcripts: their text, their speakers, and times that may be missing."""

from typing import Any

import pytest

from abstractcore import DroppedSpan, SchemaError, Transcript, TranscriptSegment, TranscriptWord

WORDS = (TranscriptWord("Good", 0.5, 0.75), TranscriptWord("morning."))
SAID = TranscriptSegment("Good morning.", 0.5, 1.5, WORDS, speaker="A")
TRANSCRIPT = Transcript((SAID, TranscriptSegment("Hello.")), (DroppedSpan(2.0, 3.5, "silence"),), seconds=4.0)


def test_transcript_has_the_text_of_its_segments():
    assert TRANSCRIPT.text == "Good morning. Hello."
    assert Transcript().text == ""


def test_speakers_are_listed_in_the_order_in_which_they_speak():
    said = [("B", ()), (None, (TranscriptWord("hi", speaker="C"),)), ("B", ()), ("A", ())]
    segments = tuple(TranscriptSegment("hi", words=words, speaker=name) for name, words in said)
    assert Transcript(segments).speakers == ("B", "C", "A")
    assert Transcript().speakers == ()


def test_later_transcript_has_all_times_later_and_none_where_there_were_none():
    later = TRANSCRIPT.later(10.0)
    assert [(each.start, each.end) for each in later.segments] == [(10.5, 11.5), (None, None)]
    assert [(each.start, each.end) for each in later.segments[0].words] == [(10.5, 10.75), (None, None)]
    assert (later.dropped, later.begin) == ((DroppedSpan(12.0, 13.5, "silence"),), 10.0)
    assert later.dropped[0].seconds == 1.5
    assert (later.text, later.seconds) == (TRANSCRIPT.text, 4.0)


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: TranscriptSegment("a", 1.0), "end"),
        (lambda: TranscriptWord("a", end=1.0), "start"),
        (lambda: TranscriptSegment("a", 2.0, 1.0), "end"),
        (lambda: TranscriptSegment("a", no_speech=float("nan")), "no_speech"),
        (lambda: TranscriptSegment("a", words=("a",)), "words[0]"),  # type: ignore[arg-type]
        (lambda: TranscriptWord("a", speaker=1), "speaker"),  # type: ignore[arg-type]
        (lambda: DroppedSpan(2.0, 1.0, "silence"), "end"),
        (lambda: DroppedSpan(1.0, 2.0, "boring"), "reason"),  # type: ignore[arg-type]
        (lambda: Transcript(language=1), "language"),  # type: ignore[arg-type]
    ],
)
def test_invalid_value_is_an_error_with_its_path(make: Any, path: str):
    with pytest.raises(SchemaError) as error:
        make()
    assert error.value.path == path
