"""What users write: an answer that is played while it is written, interrupted by the user, and sent to a browser."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from abstractcore import LLM, AudioPart, HeardReply, Message
from tests.backend_doubles import WithBackend
from tests.core.capabilities.replies.voices import RATE, Talker

ANSWER = "The train leaves at nine. It costs five dollars. Do you want a ticket?"


class Loudspeaker:
    """Plays parts; what the user hears of them ends after `patience` seconds."""

    def __init__(self, patience: float = 1_000.0) -> None:
        self.played = 0.0
        self._patience = patience

    def play(self, part: AudioPart) -> bool:
        """Plays a part; returns whether the user began to speak."""
        self.played += len(part.blob.read()) / 2 / RATE
        interrupted = self.played > self._patience
        self.played = min(self.played, self._patience)
        return interrupted


def test_program_plays_an_answer_and_keeps_the_conversation(with_backend: WithBackend):
    llm = with_backend(voice=Talker, replies=[ANSWER, "Yes."])
    speaker = Loudspeaker()
    history = [Message.user("When does the train leave?")]
    with llm.voice.reply(messages=history) as reply:
        for part in reply:
            speaker.play(part)
    history += reply.messages

    assert speaker.played == pytest.approx(6.8)
    assert reply.response.content == ANSWER
    assert [each.text for each in reply.said] == ANSWER.replace(". ", ".|").split("|")
    llm.generate(messages=[*history, Message.user("Is it late?")])
    assert [message.text for message in llm.calls[1].messages] == [
        "When does the train leave?",
        ANSWER,
        "Is it late?",
    ]


def converse(llm: LLM, history: list[Message], speaker: Loudspeaker) -> HeardReply | None:
    """A turn that the user may interrupt."""
    with llm.voice.reply(messages=history) as reply:
        for part in reply:
            if speaker.play(part):
                heard = reply.interrupt(played_seconds=speaker.played)
                break
        else:
            heard = None
    history += reply.messages
    return heard


def test_program_keeps_what_was_heard_of_an_answer_that_the_user_interrupts(with_backend: WithBackend):
    llm = with_backend(voice=Talker, replies=[ANSWER, "Five dollars."])
    history = [Message.user("When does the train leave?")]
    heard = converse(llm, history, Loudspeaker(patience=3.6))
    assert heard is not None
    assert (heard.text, heard.means) == ("The train leaves at nine. It costs", "proportion")
    history.append(Message.user("Sorry, what does it cost?"))
    assert converse(llm, history, Loudspeaker()) is None
    assert [message.text for message in history] == [
        "When does the train leave?",
        "The train leaves at nine. It costs",
        "Sorry, what does it cost?",
        "Five dollars.",
    ]


def test_program_sends_sound_to_a_browser_that_reports_what_it_played(with_backend: WithBackend):
    llm = with_backend(voice=Talker, replies=[ANSWER])
    sent: list[bytes] = []

    async def serve() -> HeardReply:
        speech_begins = asyncio.Event()
        async with llm.voice.areply("When does the train leave?") as reply:

            async def listen() -> HeardReply:
                await speech_begins.wait()
                return await reply.interrupt(played_samples=200)  # the browser counts samples

            listening = asyncio.create_task(listen())
            async for part in reply:
                sent.append(part.blob.read())
                speech_begins.set()
                await asyncio.sleep(0)
            return await listening

    heard = asyncio.run(serve())
    assert (heard.seconds, heard.text) == (2.0, "The train leaves at")
    assert len(sent) >= 1


def test_program_that_listens_in_another_thread_ends_the_loop_that_plays(with_backend: WithBackend):
    llm = with_backend(voice=Talker, replies=[ANSWER])
    found: list[HeardReply] = []
    with llm.voice.reply("When does the train leave?") as reply:
        for _ in reply:
            listener = threading.Thread(target=lambda: found.append(reply.interrupt()))
            listener.start()
            listener.join()
    (heard,) = found
    assert (heard.text, heard.means) == ("The train leaves at nine.", "delivered")
    assert reply.messages == (Message.assistant("The train leaves at nine."),)


def test_program_saves_an_answer_as_a_file(with_backend: WithBackend, tmp_path: Path):
    llm = with_backend(voice=Talker, replies=[ANSWER])
    path = llm.voice.reply("When does the train leave?").save(tmp_path / "answer.wav")
    assert path.read_bytes()[:4] == b"RIFF"
    assert len(path.read_bytes()) == 44 + 2 * 680
