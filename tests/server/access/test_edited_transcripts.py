"""Edits of the text of a transcript, which leave the times of everything else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from abstractcore.ports import Edit
from abstractcore.schema import Transcript, TranscriptSegment, TranscriptWord
from abstractcore_server.access.guarded_replies import edited_transcript


def transcript(*texts: str) -> Transcript:
    """A transcript whose segments last a second each, with a word."""
    return Transcript(
        tuple(
            TranscriptSegment(text, index, index + 1, (TranscriptWord(text, index, index + 1),), f"S{index}", -0.1, 0.2)
            for index, text in enumerate(texts)
        ),
        language="en",
    )


def shown(changed: Transcript) -> list[tuple[str, float | None, float | None, int]]:
    return [(each.text, each.start, each.end, len(each.words)) for each in changed.segments]


def test_segments_that_an_edit_touches_become_one():
    three = transcript("Call 555-", "1234 now.", "Bye.")
    found = edited_transcript(three, [Edit(5, 14, "[n]")])
    assert shown(found) == [("Call [n] now.", 0, 2, 0), ("Bye.", 2, 3, 1)]
    assert (found.segments[0].speaker, found.segments[0].log_probability, found.language) == ("S0", None, "en")
    assert shown(edited_transcript(three, [Edit(0, 4, "Ring"), Edit(20, 24, "So.")])) == [
        ("Ring 555-", 0, 1, 0),
        ("1234 now.", 1, 2, 1),
        ("So.", 2, 3, 0),
    ]
    assert shown(edited_transcript(three, [Edit(9, 10, "")])) == [("Call 555-1234 now.", 0, 2, 0), ("Bye.", 2, 3, 1)]
    assert shown(edited_transcript(three, [Edit(0, 10, "")])) == [("1234 now.", 0, 2, 0), ("Bye.", 2, 3, 1)]
    assert shown(edited_transcript(three, [Edit(0, 24, " ")])) == []


def test_segments_without_times_stay_without():
    plain = Transcript((TranscriptSegment("a"), TranscriptSegment("b", 1.0, 2.0)))
    assert shown(edited_transcript(plain, [Edit(0, 3, "c")])) == [("c", None, None, 0)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Transcript, list[Edit]]:
    texts = draw(st.lists(st.text("ab ", max_size=4), min_size=1, max_size=6))
    length = len(" ".join(texts))
    ends = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    pairs = zip(ends[::2], ends[1::2], strict=False)
    return transcript(*texts), [Edit(start, end, draw(st.text("xyz", max_size=2))) for start, end in pairs]


@given(cases())
def test_text_is_that_of_the_edits(case: tuple[Transcript, list[Edit]]):
    before, edits = case
    expected = before.text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.text + expected[edit.end :]
    after = edited_transcript(before, edits)
    assert after.text.split() == expected.split()
    times = [each.start for each in after.segments]
    assert times == sorted(time for time in times if time is not None)
