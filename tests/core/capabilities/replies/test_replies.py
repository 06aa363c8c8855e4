"""Spoken replies: sound before the text is complete, tools, failures of the model and of the voice, and early ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore import (
    CapabilityUnavailableError,
    InvalidInputError,
    Message,
    RequestTimeoutError,
    ServerError,
    Services,
    StreamInterruptedError,
    UnknownOptionError,
    create_llm,
    tool,
)
from abstractcore.testing import CallStyle, ScriptedReply
from abstractcore.testing.http_server import ScriptedServer
from tests.backend_doubles import Beeper, Records, WithBackend
from tests.chaos_server import HANG, chunk, delta, stream_head, streamed
from tests.core.capabilities.replies.conversations import interrupted, read
from tests.core.capabilities.replies.voices import Chunks, Talker, TimedTalker


def said(parts: list[Any]) -> list[str]:
    return [part.transcript for part in parts]


def speaking_services(services: Services, voice: type = Talker) -> Services:
    services.registry.add_backends(
        lambda registry: registry.register_voice_backend(backend_id="tests:voice", factory=voice)
    )
    return services


def test_first_sentence_is_spoken_before_the_text_is_complete(
    call_style: CallStyle, server: ScriptedServer, services: Services
):
    gate = server.gate()
    rest = streamed("vans. Nine.")[len(stream_head()) :]
    server.script(stream_head(), chunk(delta("Seven cars. Eight ")), gate, rest)
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=speaking_services(services))

    def until(part: Any) -> bool:
        gate.open()
        return False

    parts, reply = read(call_style, llm, "Count.", until=until)
    assert said(parts) == ["Seven cars.", "Eight vans.", "Nine."]
    assert reply.text == reply.response.content == "Seven cars. Eight vans. Nine."


def test_response_has_the_speech_and_both_calls_are_recorded(
    call_style: CallStyle, with_backend: WithBackend, records: Records
):
    llm = with_backend(voice=Talker, replies=["One. Two."])
    parts, reply = read(call_style, llm, "Count.", voice="high", tags={"who": "me"})
    (made,) = reply.response.made
    assert (made.parts, made.model, made.metadata["voice"]) == (tuple(parts), "talk-1", "high")
    assert reply.response.audio == tuple(parts)
    assert reply.messages == (Message.assistant("One. Two."),)
    chat, speech = sorted(records(), key=lambda record: record.operation)
    assert (chat.operation, speech.operation, speech.parent_id) == ("chat", "tts_stream", chat.trace_id)
    assert (chat.outcome, speech.outcome, speech.tags) == ("done", "done", {"who": "me"})


@tool
def clock() -> str:
    """The time."""
    return "noon"


ROUNDS = [ScriptedReply.text("Let me look") + ScriptedReply.tool_call("clock"), "It is noon. Sleep well."]


def test_text_before_tool_calls_is_a_sentence_of_its_own(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Talker, replies=ROUNDS)
    parts, reply = read(call_style, llm, "What time is it?", tools=[clock], run_tools=True)
    assert said(parts) == ["Let me look", "It is noon.", "Sleep well."]
    assert [message.role for message in reply.messages] == ["assistant", "tool", "assistant"]


def test_interrupted_round_keeps_the_results_of_tools(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Talker, replies=ROUNDS)
    _, reply = read(call_style, llm, "What time is it?", tools=[clock], run_tools=True)
    heard = interrupted(call_style, reply, played_seconds=2.2)
    assert heard.text == "Let me look\n\nIt is noon."
    assert [message.text for message in heard.messages] == ["Let me look", "", "It is noon."]
    assert interrupted(call_style, reply, played_seconds=0.7).text == "Let me"
    assert [message.text for message in reply.messages] == ["Let me", ""]
    assert reply.messages[0].tool_calls


def test_words_with_times_are_heard_exactly(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=TimedTalker, replies=["It costs five dollars."])
    _, reply = read(call_style, llm, "Price?")
    heard = interrupted(call_style, reply, played_seconds=1.35)
    assert (heard.text, heard.spoken, heard.means) == ("It costs five", "It costs five", "word_times")


def test_voice_without_places_is_cut_by_what_it_said(call_style: CallStyle, with_backend: WithBackend):
    llm = with_backend(voice=Chunks, replies=["It costs five dollars."])
    _, reply = read(call_style, llm, "Price?")
    heard = interrupted(call_style, reply, played_samples=250)
    assert (heard.text, heard.seconds, heard.means) == ("It costs", 2.5, "proportion")
    assert interrupted(call_style, reply, played_seconds=4.0).means == "all"


@pytest.mark.parametrize("answer", ["", "***"])
def test_answer_that_cannot_be_said_has_no_speech(call_style: CallStyle, with_backend: WithBackend, answer: str):
    class Silent(Talker):
        silent = True

    llm = with_backend(voice=Silent, replies=[ScriptedReply.chunks([answer] if answer else [])])
    parts, reply = read(call_style, llm, "Hm?")
    assert (parts, reply.response.made, reply.response.content) == ([], (), answer)


def test_model_that_breaks_is_spoken_as_far_as_it_came(call_style: CallStyle, with_backend: WithBackend):
    broken = ScriptedReply.chunks(["One. Tw"], then=ServerError("broken"))
    llm = with_backend(voice=Talker, replies=[broken], max_retries=0)
    parts: list[Any] = []
    with pytest.raises(ServerError, match="broken") as caught:
        read(call_style, llm, "Count.", until=lambda part: bool(parts.append(part)))
    assert said(parts) == ["One.", "Tw"]
    assert caught.value.partial is not None
    assert caught.value.partial.text == "One. Tw"


def test_model_that_fails_at_once_is_not_spoken(call_style: CallStyle, with_backend: WithBackend, records: Records):
    llm = with_backend(voice=Talker, replies=[ServerError("down")], max_retries=0)
    with pytest.raises(ServerError, match="down"):
        read(call_style, llm, "Count.")
    assert [record.operation for record in records()] == ["chat"]


def test_request_is_repeated_before_the_first_sound_and_nothing_is_said_twice(
    call_style: CallStyle, with_backend: WithBackend, records: Records
):
    again = ServerError("busy")
    again.retryable = True
    llm = with_backend(voice=Talker, replies=[again, "One. Two."])
    parts, _ = read(call_style, llm, "Count.")
    assert said(parts) == ["One.", "Two."]


def test_voice_that_breaks_is_an_error_with_the_text_and_ends_the_answer(
    call_style: CallStyle, server: ScriptedServer, services: Services
):
    class Breaking(Talker):
        fails_after = 1

    server.script(stream_head(), chunk(delta("One. Two. Three. ")), HANG)
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=speaking_services(services, Breaking))
    with pytest.raises(ServerError, match="the voice broke") as caught:
        read(call_style, llm, "Count.")
    assert caught.value.partial is not None
    assert caught.value.partial.text.startswith("One. ")


def test_reply_in_which_nothing_arrives_ends(call_style: CallStyle, server: ScriptedServer, services: Services):
    server.script(stream_head(), chunk(delta("One. Tw")), HANG)
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=speaking_services(services))
    parts: list[Any] = []
    with pytest.raises(RequestTimeoutError, match=r"neither text nor sound arrived for 0\.2 s.*idle_timeout=SECONDS"):
        read(call_style, llm, "Count.", idle_timeout=0.2, until=lambda part: bool(parts.append(part)))
    assert said(parts) == ["One."]


def test_voice_that_hangs_ends(call_style: CallStyle, with_backend: WithBackend):
    class Hanging:
        def __init__(self, owner: Any) -> None:
            self.owner = owner

        async def tts_stream(self, text: Any) -> Any:
            await self.owner.runtime.sleep(60)
            yield b""

    llm = with_backend(voice=Hanging, replies=["One."])
    with pytest.raises(RequestTimeoutError, match="neither text nor sound"):
        read(call_style, llm, "Count.", idle_timeout=0.2)


def test_voice_that_hangs_in_sync_code_ends(call_style: CallStyle, with_backend: WithBackend):
    go_on = threading.Event()

    class Hanging:
        def __init__(self, owner: Any) -> None: ...

        def tts_stream(self, text: str) -> Any:
            go_on.wait(60)
            yield b""

    llm = with_backend(voice=Hanging, replies=["One."])
    try:
        with pytest.raises(RequestTimeoutError, match="neither text nor sound"):
            read(call_style, llm, "Count.", idle_timeout=0.2)
    finally:
        go_on.set()


def test_speech_is_not_made_far_ahead_of_its_reader(call_style: CallStyle, with_backend: WithBackend):
    made: list[str] = []

    class Counted(Talker):
        def _part(self, sentence: str, place: int, at: float) -> Any:
            made.append(sentence)
            return super()._part(sentence, place, at)

    llm = with_backend(voice=Counted, replies=[f"{'word ' * 40}end. " * 20])
    counts: list[int] = []

    def until(part: Any) -> bool:
        counts.append(len(made))
        return False

    parts, _ = read(call_style, llm, "Go on.", until=until)
    assert len(parts) == 20
    assert all(count <= index + 2 for index, count in enumerate(counts, start=1))


def test_reply_that_is_left_early_ends_both_calls(
    call_style: CallStyle, server: ScriptedServer, services: Services, records: Records
):
    server.script(stream_head(), chunk(delta("One. Two. Thr")), HANG)
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=speaking_services(services))
    _, reply = read(call_style, llm, "Count.", until=lambda part: True)
    with pytest.raises(StreamInterruptedError, match="not complete"):
        _ = reply.response
    heard = interrupted(call_style, reply)
    assert (heard.text, heard.means) == ("One.", "delivered")
    ended: set[str] = set()
    while len(ended) < 2:  # the calls end in the background
        ended = {record.operation for record in records()}
    assert {record.outcome for record in records()} <= {"abandoned", "failed", "cancelled"}


def test_dropped_reply_ends_its_threads(with_backend: WithBackend):
    before = set(threading.enumerate())
    reply: Any = with_backend(voice=Talker, replies=[f"{'word ' * 40}end. " * 20]).voice.reply("Go on.")
    next(reply)
    del reply
    for thread in set(threading.enumerate()) - before:
        if thread.name != "abstractcore-alarms" and "subscriber" not in thread.name:
            thread.join(60)
            assert not thread.is_alive()


def test_cancelled_task_ends_the_reply(server: ScriptedServer, services: Services):
    server.script(stream_head(), chunk(delta("One. Two")), HANG)
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=speaking_services(services))

    async def main() -> list[str]:
        found: list[str] = []

        async def play() -> None:
            async with llm.voice.areply("Count.") as reply:
                async for part in reply:
                    found.append(part.transcript or "")
                    task.cancel()

        task = asyncio.create_task(play())
        with pytest.raises(asyncio.CancelledError):
            await task
        return found

    assert asyncio.run(main()) == ["One."]


def test_ctrl_c_ends_a_reply_that_waits(
    server: ScriptedServer, services: Services, ctrl_c: Callable[[Callable[[], object]], None]
):
    server.script(stream_head(), chunk(delta("One. Two")), HANG)
    llm = create_llm("openai-compatible/m", base_url=f"{server.url}/v1", services=speaking_services(services))
    parts: list[Any] = []
    ctrl_c(lambda: parts)
    with pytest.raises(KeyboardInterrupt), llm.voice.reply("Count.") as reply:
        parts += [next(reply)]
        next(reply)
    assert said(parts) == ["One."]


def test_reply_without_a_voice_is_refused_before_anything_is_sent(call_style: CallStyle, with_backend: WithBackend):
    class Deaf:
        def __init__(self, owner: Any) -> None: ...

        def stt(self, audio: bytes) -> str:
            return ""

    llm = with_backend(voice=Deaf, replies=["One."])
    with pytest.raises(CapabilityUnavailableError, match="tts_stream"):
        read(call_style, llm, "Count.")
    assert llm.calls == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"verify": True}, InvalidInputError, "verify: is not for spoken replies"),
        ({"output_check": print}, InvalidInputError, "output_check: is not for spoken replies"),
        ({"idle_timeout": 0}, InvalidInputError, "idle_timeout: expected seconds"),
        ({"temprature": 1}, UnknownOptionError, "temprature"),
        ({"messages": 5}, InvalidInputError, "messages"),
    ],
)
def test_bad_options_are_refused_before_anything_is_sent(
    call_style: CallStyle, with_backend: WithBackend, options: Any, error: type[Exception], message: str
):
    llm = with_backend(voice=Talker, replies=["One."])
    with pytest.raises(error, match=message):
        read(call_style, llm, "Count.", **options)
    assert llm.calls == []


def test_bad_played_times_are_refused(call_style: CallStyle, with_backend: WithBackend):
    _, reply = read(call_style, with_backend(voice=Talker, replies=["One."]), "Count.")
    for played in ({"played_seconds": -1}, {"played_samples": True}, {"played_seconds": 1, "played_samples": 1}):
        with pytest.raises(InvalidInputError, match="played_s"):
            interrupted(call_style, reply, **played)


def test_samples_are_for_speech_in_samples(call_style: CallStyle, with_backend: WithBackend):
    class Encoded(Beeper):
        def tts_stream(self, text: str, *, voice: str = "low") -> Any:
            yield {"content": b"abc", "content_type": "audio/mpeg"}

    _, reply = read(call_style, with_backend(voice=Encoded, replies=["One."]), "Count.")
    with pytest.raises(InvalidInputError, match="the speech is not in samples"):
        interrupted(call_style, reply, played_samples=5)


def test_option_that_the_voice_does_not_take_is_a_warning(call_style: CallStyle, with_backend: WithBackend):
    _, reply = read(call_style, with_backend(voice=Talker, replies=["One."]), "Count.", speed=2.0)
    (made,) = reply.response.made
    assert [warning.path for warning in made.warnings] == ["speed"]
