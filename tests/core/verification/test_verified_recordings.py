"""`verify=True` of answers about recordings: what a transcript says is heard a second time at its place."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from abstractcore import (
    LLM,
    CorruptFileError,
    MissingExtraError,
    ModelStoreError,
    Services,
    Verification,
    create_llm,
    from_json,
    to_json,
    tool,
)
from abstractcore.ports import Conversion, MediaContext, Recognised
from abstractcore.schema import MediaAnchor, MediaPart
from abstractcore.schema.source_texts import TextSource
from abstractcore.stores.conversions import MemoryConversions
from abstractcore.testing import ScriptedReply
from abstractcore.verification.claim_checks import check_claims
from abstractcore.verification.speech import recheck_speech, spoken_readings
from tests.core.tools.loops import WAYS, Way
from tests.media_doubles import SOUND, TRANSCRIPT, registry

MEETING = Path(__file__).parents[3] / "examples/media/meeting.wav"
HEARD = MemoryConversions()
"""The transcript of the meeting, for sync and async calls."""
SAID = ((0.0, 3.0, "It starts at 9.30 on Tuesday."), (3.0, 7.0, "Bring two copies to Anna Lindqvist."))
ANSWER = "It starts at 9:30. Bring 2 copies to Anna Lindqvist, not 5."


@dataclass
class Ears:
    """A handler of recordings that hears `said` first and `again` then, which may be an error."""

    again: Sequence[str] | Exception | None = None
    said: Sequence[tuple[float, float, str]] = SAID
    name: str = "ears"
    fallbacks: Any = (TRANSCRIPT,)
    spans: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        ours = head.startswith(SOUND[:5]) if declared is None else declared == "audio/ogg"
        return Recognised("audio", "audio/ogg") if ours else None

    def check(self, part: MediaPart) -> None:
        pass

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        lines, anchors, position = list[str](), list[MediaAnchor](), 0
        for start, end, text in self.said:
            lines.append(f"[00:{int(start):02}] {text}")
            anchors.append(MediaAnchor(position + 8, position + len(lines[-1]), seconds=(start, end)))
            position += len(lines[-1]) + 1
        return Conversion("\n".join(lines), "transcript", anchors=tuple(anchors), model="first")

    def retranscribe(
        self, part: MediaPart, spans: Sequence[tuple[float, float]], context: MediaContext
    ) -> Conversion | None:
        self.spans += spans
        if isinstance(self.again, Exception):
            raise self.again
        if self.again is None:
            return None
        anchors, position = list[MediaAnchor](), 0
        lines = [self.again[index % len(self.again)] for index in range(len(spans))]
        for span, line in zip(spans, lines, strict=True):
            anchors.append(MediaAnchor(position, position + len(line), seconds=span))
            position += len(line) + 1
        return Conversion("\n".join(lines), "second hearing", anchors=tuple(anchors), model="second")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Generator[Way]:
    """Sync and async, whole and streamed."""
    with Way.of(request.param) as way:
        yield way


def hearing(ears: Ears, answer: str = ANSWER, **options: Any) -> LLM:
    services = Services(registry=registry(cast(Any, ears)), environment={})
    return create_llm("scripted", replies=[answer] * 3, services=services, **options)


def verified(ears: Ears, answer: str = ANSWER, **options: Any) -> Verification:
    verification = hearing(ears, answer, **options).generate("When?", media=[SOUND], verify=True).verification
    assert verification is not None
    return verification


def found(verification: Verification | None) -> list[tuple[str, str, bool | None]]:
    assert verification is not None
    return [(each.text, each.verdict, each.heard) for each in verification.checks]


def test_what_is_said_is_heard_a_second_time_at_its_place(way: Way):
    ears = Ears(again=("starts at nine thirty on tuesday", "two copies to Anna Lindquist."))
    response = way.generate(hearing(ears), "When?", media=[SOUND], verify=True)
    verification = response.verification
    assert found(verification) == [
        ("9:30", "agreed", True),
        ("2", "agreed", True),
        ("Anna Lindqvist", "agreed", False),
        ("5", "not_found", None),
    ]
    assert verification is not None
    assert ears.spans == [(0.0, 4.5), (2.0, 8.0)]
    reasons = [each.reason for each in verification.checks]
    assert reasons[:3] == [
        None,
        "there it is said as 'Bring two copies to Anna Lindqvist.'",
        "second does not hear it at 3 s: 'two copies to Anna Lindquist.'",
    ]
    assert verification.problems == ()
    assert from_json(to_json(response)) == response


def test_only_what_the_recording_says_is_agreed_in_other_readings():
    text = "at nine thirty, twenty-four people, one hundred and five euros, three point five percent, 4 7 1 9"
    source = TextSource("file", "a.wav", text, [MediaAnchor(0, len(text), seconds=(0.0, 9.0))], 0, anchored_only=True)
    stated = "9:30 24 people; EUR 105; 3.5 %; 4719; 35 %; 930; 10; 20; 19; USD 105"
    answer = f"We heard {stated}"
    checks = recheck_speech(answer, check_claims(answer, [source]), [source]).checks
    agreed = [each.text for each in checks if each.verdict == "agreed"]
    assert agreed == ["9:30", "24", "EUR 105", "3.5 %", "4719", "930"]
    assert {each.source.seconds for each in checks if each.source is not None} == {(0.0, 9.0)}
    plain = TextSource("file", "a.txt", text)
    assert recheck_speech(answer, check_claims(answer, [plain]), [plain]) == check_claims(answer, [plain])


@pytest.mark.parametrize(
    ("said", "others"),
    [
        ("at nine thirty", ("at 930", "at 9:30")),
        ("nine oh five", ("905", "9:05")),
        ("nineteen eighty-four", ("1984",)),
        ("two thousand and five people", ("2005 people",)),
        ("two to three", ("2 to 3",)),
        ("30-40 people", ()),
        ("1.2 million", ()),
        ("someone often", ()),
        ("a point for ten and", ("a point for 10 and",)),
    ],
)
def test_numbers_in_words_are_read_as_numbers(said: str, others: tuple[str, ...]):
    assert spoken_readings(said) == (said, *others)


def test_places_of_single_words_are_joined_to_lines():
    text = "starts at nine thirty\nBring two copies"
    words = [(0, 6), (7, 9), (10, 14), (15, 21), (22, 27), (28, 31), (32, 38)]
    anchors = [MediaAnchor(a, b, seconds=(n / 2, n / 2 + 0.4)) for n, (a, b) in enumerate(words)]
    source = TextSource("file", "a.wav", text, anchors, 0, anchored_only=True)
    (time, copies) = recheck_speech("at 9:30, 2 copies", check_claims("at 9:30, 2 copies", [source]), [source]).checks
    assert time.source is not None
    assert copies.source is not None
    assert (time.source.text, time.source.seconds) == ("starts at nine thirty", (0.0, 1.9))
    assert (copies.source.text, copies.source.seconds) == ("Bring two copies", (2.0, 3.4))


def test_a_figure_that_differs_is_heard_too():
    said = ((0.0, 4.0, "The total due is 50 dollars."),)
    ears = Ears(again=("the total due is 15 dollars",), said=said)
    (check,) = verified(ears, "The total due is $15.").checks
    assert (check.verdict, check.instead, check.heard) == ("differs", "50 dollars", True)
    assert check.reason is not None
    assert check.reason.endswith("; second hears $15 at 0 s")
    (check,) = verified(Ears(again=("total due is 50 dollars",), said=said), "The total due is $15.").checks
    assert (check.verdict, check.heard) == ("differs", False)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MissingExtraError("it needs the extra `audio`."), "it needs the extra"),
        (ModelStoreError("no weights."), "no weights"),
        (CorruptFileError("it is corrupt."), "it is corrupt"),
    ],
)
def test_recording_that_cannot_be_heard_again_is_a_problem(way: Way, error: Exception, message: str):
    response = way.generate(hearing(Ears(again=error)), media=[SOUND], verify=True)
    assert response.content == ANSWER
    assert {each[2] for each in found(response.verification)} == {None}
    assert response.verification is not None
    (problem,) = response.verification.problems
    assert problem.endswith(f"was not heard a second time: {message}") or message in problem


def test_handler_without_a_second_means_says_nothing():
    verification = verified(Ears(again=None))
    assert ({each[2] for each in found(verification)}, verification.problems) == ({None}, ())


def test_silence_at_the_place_is_a_doubt():
    (check, *_) = verified(Ears(again=("",))).checks
    assert (check.verdict, check.heard, check.reason) == ("agreed", False, "second hears nothing at 0 s")


def test_the_places_with_most_checks_are_heard():
    said = tuple((5.0 * n, 5.0 * n + 4, f"Lot {n + 100} has {n + 300} lamps.") for n in range(12))
    ears = Ears(again=("nothing",), said=said)
    answer = " ".join(f"We see lot {n + 100}{f' with {n + 300} lamps' if n > 3 else ''}." for n in range(12))
    verification = verified(ears, answer)
    assert [round(start) for start, _ in ears.spans] == [round(5.0 * n - 1) for n in range(4, 12)]
    assert verification.problems == ("a file: 8 of 12 places were heard a second time",) or (
        "8 of 12 places were heard a second time" in verification.problems[0]
    )
    assert [each[2] for each in found(verification)].count(None) == 4


def test_same_places_are_heard_once():
    ears = Ears(again=("at 9:30",))
    llm = hearing(ears)
    first, again = (llm.generate("When?", media=[SOUND], verify=True) for _ in range(2))
    assert first.verification == again.verification
    assert len(ears.spans) == 2


def test_recording_in_the_result_of_a_tool_is_heard(way: Way):
    from abstractcore import AudioPart, Blob

    @tool
    def call() -> AudioPart:
        """The call."""
        return AudioPart(Blob.from_bytes(SOUND, "audio/ogg", name="call.ogg"))

    ears = Ears(again=("at 9.30", "two copies for Anna Lindqvist"))
    services = Services(registry=registry(cast(Any, ears)), environment={})
    replies = [ScriptedReply.tool_call("call", {}), ANSWER]
    llm = create_llm("scripted", replies=replies, services=services)
    response = way.generate(llm, tools=[call], run_tools=True, verify=True)
    assert [each[2] for each in found(response.verification)] == [True, True, True, None]


def test_the_time_limit_keeps_what_was_found(call_style: Any):
    release = threading.Event()

    class Slow(Ears):
        def retranscribe(self, part: Any, spans: Any, context: Any) -> Conversion | None:
            release.wait(30)
            return None

    response = call_style.generate(hearing(Slow()), "When?", media=[SOUND], verify=True, timeout=1.0)
    release.set()
    assert [each[1] for each in found(response.verification)] == ["agreed", "agreed", "agreed", "not_found"]
    assert "no time was left" in response.verification.problems[-1]


@pytest.mark.process
@pytest.mark.weights
def test_meeting_is_heard_by_another_model(call_style: Any, models: Any):
    """With the real models: the transcript is of Whisper base, the second hearing of Whisper tiny.en."""
    services = Services(environment={}, models=models, conversions=HEARD)
    answer = "It is on Tuesday at 9:30 in room 12, with 2 copies. Room 13 is taken."
    llm = create_llm("scripted", replies=[answer], services=services)
    response = call_style.generate(llm, "When?", media=[MEETING], verify=True)
    services.close()
    assert found(response.verification) == [
        ("Tuesday", "agreed", True),
        ("9:30", "agreed", True),
        ("12", "agreed", True),
        ("2", "agreed", True),
        ("13", "not_found", None),
    ]
    assert response.verification.problems == ()
