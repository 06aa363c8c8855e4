"""What was heard of speech when its playing ended: whole pieces, words by their times, words by proportion."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from abstractcore import AudioPart, Blob, Message, SpokenPiece, SpokenWord, ToolCall
from abstractcore.capabilities.replies import SpokenPieces, heard_messages, heard_until
from abstractcore.schema import Citation, ReasoningPart, TextPart

TEXT = "Hello there. It costs $42.50 a day."
FIRST = SpokenPiece("Hello there.", 0.0, 1.0, 0, 12)
AMOUNT = ("It", 15), ("costs", 21), ("forty", 28), ("two", 28), ("dollars", 28), ("a", 30), ("day.", 35)
SECOND = SpokenPiece("It costs forty two dollars a day.", 1.0, 3.2, 13, 35, tuple(SpokenWord(*each) for each in AMOUNT))
TIMED = tuple(SpokenWord(text, end, 1.0 + 0.4 * (n + 1)) for n, (text, end) in enumerate(AMOUNT))


def heard(played: float | None, *pieces: SpokenPiece, complete: bool = True) -> tuple[str, str, str]:
    """What was heard of the text, how it was said, and how that is known."""
    found = heard_until(pieces or (FIRST, SECOND), played, complete=complete)
    return TEXT[: found.source_end], found.spoken, found.means


def test_nothing_and_everything():
    assert heard(0) == ("", "", "nothing")
    assert heard(4.2) == (TEXT, "Hello there. It costs forty two dollars a day.", "all")
    assert heard(None) == (TEXT, "Hello there. It costs forty two dollars a day.", "all")
    assert heard_until((), 5.0, complete=True).means == "nothing"


def test_playing_that_ends_between_pieces_is_exact():
    assert heard(1.0) == ("Hello there.", "Hello there.", "sentences")
    assert heard(1.01) == heard(0.99) == heard(1.0)
    assert heard(2.0, FIRST, complete=False) == ("Hello there.", "Hello there.", "sentences")


def test_delivered_pieces_count_as_heard_if_the_played_time_is_not_given():
    assert heard(None, FIRST, complete=False) == ("Hello there.", "Hello there.", "delivered")


def test_words_within_a_piece_are_heard_by_proportion_and_never_half():
    assert heard(1.9) == ("Hello there. It costs", "Hello there. It costs", "proportion")
    assert heard(0.2)[0] == ""
    assert heard(0.6) == ("Hello", "Hello", "proportion")


def test_words_within_a_piece_are_heard_by_their_times():
    timed = SpokenPiece(SECOND.text, 1.0, 3.2, 13, 35, TIMED)
    assert heard(1.85, FIRST, timed) == ("Hello there. It costs", "Hello there. It costs", "word_times")
    assert heard(3.5, FIRST, timed)[0] == "Hello there. It costs $42.50 a"


def test_amount_counts_as_heard_when_its_last_word_was_said():
    timed = SpokenPiece(SECOND.text, 1.0, 3.2, 13, 35, TIMED)
    assert heard(2.7, FIRST, timed)[:2] == ("Hello there. It costs", "Hello there. It costs")
    assert heard(3.1, FIRST, timed)[:2] == ("Hello there. It costs $42.50", "Hello there. It costs forty two dollars")


def test_length_of_a_piece_whose_sound_is_still_arriving_is_estimated():
    begun = SpokenPiece(SECOND.text, 1.0, 0.4, 13, 35, SECOND.words)
    assert heard(1.4, FIRST, begun, complete=False)[0] == "Hello there. It"
    assert heard(1.4, FIRST, begun, complete=True)[0] == TEXT


def test_piece_without_words_is_divided_by_length():
    plain = SpokenPiece(TEXT, 0.0, 3.5, 0, 35)
    assert heard(2.2, plain) == ("Hello there. It costs", "Hello there. It costs", "proportion")


WORDS = st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORDS, st.floats(0.1, 5)), min_size=1, max_size=5), st.floats(0, 30), st.floats(0, 5))
def test_more_playing_never_means_less_heard(said: list[tuple[list[str], float]], played: float, more: float):
    pieces: list[SpokenPiece] = []
    for words, seconds in said:
        at = pieces[-1].at + pieces[-1].seconds if pieces else 0.0
        start = pieces[-1].source_end + 1 if pieces else 0
        text = " ".join(words)
        pieces.append(SpokenPiece(text, at, seconds, start, start + len(text)))
    first, second = (heard_until(pieces, each, complete=True) for each in (played, played + more))
    assert 0 <= first.source_end <= second.source_end <= pieces[-1].source_end
    assert second.spoken.startswith(first.spoken)


def sound(length: float, transcript: str | None = None, **about: object) -> AudioPart:
    """A part of 100 samples a second."""
    blob = Blob.from_bytes(bytes(2 * round(100 * length)), "audio/pcm;rate=100;channels=1")
    return AudioPart(blob, transcript=transcript, provider_options={"voice": about} if about else {})  # type: ignore[dict-item]


def test_parts_without_facts_have_times_by_their_samples_and_places_by_their_letters():
    pieces = SpokenPieces()
    assert [pieces.add(sound(1.0, "Hello")), pieces.add(sound(0.5, "there.")), pieces.add(sound(0.25))] == [
        1.0,
        0.5,
        0.25,
    ]
    assert pieces.all == (SpokenPiece("Hello", 0.0, 1.0, 0, 6), SpokenPiece("there.", 1.0, 0.75, 6, 13))
    assert pieces.rate == 100


def test_parts_of_one_sentence_are_one_piece():
    pieces = SpokenPieces()
    place = {"source_start": 3, "source_end": 9}
    pieces.add(sound(1.0, "Hello.", at=0.0, seconds=1.0, **place))
    pieces.add(sound(1.0, None, at=1.0, seconds=1.0, **place))
    assert pieces.all == (SpokenPiece("Hello.", 0.0, 2.0, 3, 9),)


def test_facts_of_another_form_are_ignored():
    pieces = SpokenPieces()
    pieces.add(sound(1.0, "Hello.", at="soon", seconds=True, source_start=-3, words=[{"text": 5}]))
    pieces.add(AudioPart(Blob.from_bytes(b"x", "audio/mpeg"), transcript="Yes."))
    assert pieces.all == (SpokenPiece("Hello.", 0.0, 1.0, 0, 7), SpokenPiece("Yes.", 1.0, 0.0, 7, 12))


def test_messages_lose_the_text_that_was_not_heard_and_keep_what_tools_did():
    call, lost = ToolCall("c1", "clock", "{}"), ToolCall("c2", "clock", "{}")
    messages = (
        Message.assistant("Let me look. ", call),
        Message.tool("c1", "noon"),
        Message.assistant(ReasoningPart("Hm."), "It is noon. Do you need more?", lost),
    )
    heard = heard_messages(messages, len("Let me look. It is noon."))
    assert heard[:2] == messages[:2]
    assert heard[2] == Message.assistant(ReasoningPart("Hm."), "It is noon.")
    assert heard_messages(messages, len("Let me")) == (Message.assistant("Let me", call), messages[1])
    assert heard_messages(messages, 0) == (Message.assistant(call), messages[1])
    assert heard_messages((Message.assistant("Hello."),), 0) == ()


def test_citations_of_what_was_not_heard_are_left_out():
    cited = TextPart("Tea. Cake.", (Citation("a", start=0, end=4), Citation("b", start=5, end=10)))
    (message,) = heard_messages((Message.assistant(cited),), 4)
    assert message.parts == (TextPart("Tea.", (Citation("a", start=0, end=4),)),)
