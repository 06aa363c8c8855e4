"""The conversation: listens, asks the model, speaks its answer, and keeps what was heard of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Protocol

import abstractcore

from ..asking import summary
from ..output_files import backend_options, check_output
from ..plugins import ConnectionArguments, connected
from ..reporting import print_error, reported
from ..screen import note, write

_KEYS = "Ctrl-C stops an answer, and ends the conversation while it listens"
_SYSTEM = "This is a spoken conversation. Answer briefly, in plain sentences without lists, tables or code."

_EMBEDDED_TOKENS = 60
"""The embedded model repeats itself for minutes if nothing ends its answer; these are some 20 seconds of speech."""


class SoundInput(Protocol):
    """What listens to the user."""

    def next(self) -> bytes | str | None:
        """Returns the next recording; None at the end of the conversation."""
        ...

    def hears_speech(self) -> bool:
        """Returns whether the user interrupts."""
        ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *exception: object) -> Any: ...


class SoundOutput(Protocol):
    """What plays replies."""

    @property
    def played(self) -> float | None:
        """The seconds of the current reply that were heard; None for all of it."""
        ...

    def begin(self) -> None: ...

    def play(self, part: abstractcore.AudioPart, stops: Any) -> bool:
        """Plays a part; returns False if `stops()` ended it."""
        ...

    def finish(self) -> None: ...

    def stop(self) -> None: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *exception: object) -> Any: ...


@dataclass(frozen=True, slots=True)
class TalkArguments:
    """The arguments of `talk` about the conversation."""

    inputs: tuple[str, ...]
    output: str | None
    system: str | None
    voice: str | None
    speed: float | None
    language: str | None
    headphones: bool
    microphone: str | None
    loudspeaker: str | None
    backend: str | None
    listen_model: str | None
    options: tuple[str, ...]


def converse(conversation: TalkArguments, connection: ConnectionArguments) -> None:
    """Talks until Ctrl-C, or until the last file was answered."""
    with reported(), ExitStack() as opened:
        check_output(conversation.output)
        reply_options = _reply_options(conversation)
        mouth = opened.enter_context(_mouth(conversation))
        ears = opened.enter_context(_ears(conversation))
        more = {"voice_backend": conversation.backend, "transcription_model": conversation.listen_model}
        llm = opened.enter_context(connected(limited(connection), more=more))
        talk = _Talk(llm, ears, mouth, conversation, reply_options, connection.quiet)
        if not connection.quiet and not conversation.inputs:
            note(f"{llm.provider}/{llm.model}: speak. {_KEYS}")
        while (recording := ears.next()) is not None:
            try:
                talk.turn(recording)
            except abstractcore.AbstractCoreError as error:
                if conversation.inputs:
                    raise
                print_error(error)


def limited(connection: ConnectionArguments) -> ConnectionArguments:
    """Returns the connection, with short answers if it is that of the embedded model without a limit."""
    is_embedded = connection.provider is None and connection.model is None
    return replace(connection, max_tokens=_EMBEDDED_TOKENS) if is_embedded and not connection.max_tokens else connection


def _ears(conversation: TalkArguments) -> SoundInput:
    if conversation.inputs:
        from .files import Recordings

        return Recordings(conversation.inputs)
    from .devices import Microphone

    return Microphone(conversation.microphone, interrupts=conversation.headphones)


def _mouth(conversation: TalkArguments) -> SoundOutput:
    if conversation.output is not None:
        from .files import SoundFile

        return SoundFile(conversation.output)
    from .devices import Loudspeaker

    return Loudspeaker(conversation.loudspeaker)


def _reply_options(conversation: TalkArguments) -> dict[str, Any]:
    return backend_options(
        conversation.options, voice=conversation.voice, speed=conversation.speed, language=conversation.language
    )


class _Talk:
    """The turns so far."""

    def __init__(
        self,
        llm: abstractcore.LLM,
        ears: SoundInput,
        mouth: SoundOutput,
        conversation: TalkArguments,
        reply_options: dict[str, Any],
        quiet: bool,
    ) -> None:
        self._llm = llm
        self._ears = ears
        self._mouth = mouth
        self._language = conversation.language
        self._options = reply_options
        self._quiet = quiet
        self._history = [abstractcore.Message.system(conversation.system or _SYSTEM)]

    def turn(self, recording: bytes | str) -> None:
        """Hears a recording, and answers it."""
        heard = self._llm.voice.stt(recording, language=self._language)
        if not heard.text.strip():
            note("nothing was understood")
            return
        write(f"> {heard.text.strip()}\n")
        prompt = abstractcore.Message.user(heard.text.strip())
        with self._llm.voice.reply(messages=[*self._history, prompt], **self._options) as reply:
            interrupted = self._play(reply)
            messages: Sequence[abstractcore.Message] = reply.messages
        if interrupted is not None:
            note(f"stopped: {interrupted.text!r} was heard ({interrupted.means})")
        elif not self._quiet:
            for line in summary(reply.response):
                note(line)
        self._history += [prompt, *messages] if messages else []

    def _play(self, reply: abstractcore.SpokenReply) -> abstractcore.HeardReply | None:
        """Plays a reply, and prints it as it is spoken; returns what was heard if it was interrupted."""
        self._mouth.begin()
        shown = 0
        try:
            for part in reply:
                end = reply.said[-1].source_end if reply.said else 0
                write(reply.text[shown:end])
                shown = max(shown, end)
                if not self._mouth.play(part, self._ears.hears_speech):
                    write("\n")
                    return reply.interrupt(played_seconds=self._mouth.played)
            write(f"{reply.text[shown:]}\n")
            self._mouth.finish()
        except KeyboardInterrupt:
            self._mouth.stop()
            write("\n")
            return reply.interrupt(played_seconds=self._mouth.played)
        return None
