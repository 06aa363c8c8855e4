"""`abstractcore ask`: one question, one answer."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from typing import Any

import abstractcore

from .connection import Connection, connected
from .json_output import response_json
from .reporting import reported
from .screen import note, write
from .summary import summary


@dataclass(frozen=True, slots=True)
class Question:
    """The question of `ask`: its text, files and options."""

    text: str | None
    media: tuple[str, ...]
    system: str | None


def answer(question: Question, connection: Connection, *, stream: bool | None, as_json: bool) -> None:
    """Asks, and prints the answer. `stream` None means: if stdout is a terminal."""
    with reported(as_json=as_json):
        if as_json and stream:
            raise abstractcore.InvalidInputError("--json cannot be combined with --stream.", hint="Leave out --stream.")
        prompt = _prompt(question)
        with connected(connection) as llm:
            if stream or (stream is None and not as_json and sys.stdout.isatty()):
                with llm.stream(prompt, media=question.media, system_prompt=question.system) as deltas:
                    write_stream(deltas)
                    response = deltas.response
            else:
                response = llm.generate(prompt, media=question.media, system_prompt=question.system)
                write(response_json(response) if as_json else f"{response.content}\n")
        if not connection.quiet and not as_json:
            for line in summary(response):
                note(line)


def write_stream(stream: abstractcore.Stream[Any]) -> None:
    """Prints the answer to stdout as it is generated, and ends its last line, also after an error."""
    last = "\n"
    try:
        for text in stream.text():
            write(text)
            last = text or last
    finally:
        if not last.endswith("\n"):
            write("\n")


def _prompt(question: Question) -> str | None:
    prompt = "\n\n".join(text for text in (question.text, _piped()) if text and text.strip())
    if not prompt and not question.media:
        raise abstractcore.InvalidInputError(
            "no question given.",
            hint='Write abstractcore ask "QUESTION", pipe text in, or pass a file with --media FILE.',
        )
    return prompt or None


def _piped() -> str | None:
    """Returns piped or redirected text. A terminal or /dev/null is not read."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return None
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise abstractcore.InvalidInputError(
            "stdin is not UTF-8 text.", hint="Pass images, audio and documents with --media FILE."
        ) from None
