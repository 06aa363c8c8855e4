"""`abstractcore chat`: a conversation in the terminal."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys

import abstractcore

from .asking import write_stream
from .connection import Connection, connected
from .reporting import print_error, reported
from .screen import note, write
from .summary import summary

_LAST_WORDS = ("/exit", "/quit")
_COMMAND = re.compile("/[a-z]+")


def converse(connection: Connection, system: str | None) -> None:
    """Runs the conversation until the user ends it. If stdin is not a terminal, an error ends it too."""
    interactive = sys.stdin.isatty()
    with reported(), connected(connection) as llm:
        if interactive and not connection.quiet:
            note(f"{llm.provider}/{llm.model}: /exit or Ctrl-D ends the chat, Ctrl-C stops an answer")
        history = [abstractcore.Message.system(system)] if system else []
        while (line := _next_line(interactive)) is not None:
            if interactive and _COMMAND.fullmatch(line):
                note(f"unknown command {line}: /exit ends the chat, any other text is sent to the model")
                continue
            try:
                history += _turn(llm, history, line, connection.quiet)
            except abstractcore.AbstractCoreError as error:
                if not interactive:
                    raise
                print_error(error)


def _next_line(interactive: bool) -> str | None:
    """Returns the next line of the user; None at the end."""
    if interactive:
        with contextlib.suppress(ImportError):
            importlib.import_module("readline")  # gives `input` arrow keys and a history
    prompt = "> " if interactive and sys.stdout.isatty() else ""
    line = ""
    while not line:
        try:
            line = input(prompt).strip()
        except (EOFError, KeyboardInterrupt) as end:
            if prompt:
                write("\n")
            if isinstance(end, KeyboardInterrupt):
                raise
            return None
    return None if line in _LAST_WORDS else line


def _turn(
    llm: abstractcore.LLM, history: list[abstractcore.Message], line: str, quiet: bool
) -> list[abstractcore.Message]:
    """Returns the messages of one question and its answer; none if there was no answer."""
    prompt = abstractcore.Message.user(line)
    with llm.stream(messages=[*history, prompt]) as stream:
        try:
            write_stream(stream)
        except KeyboardInterrupt:
            note("stopped")
            text = stream.partial.text
            return [prompt, abstractcore.Message.assistant(text)] if text.strip() else []
        response = stream.response
    if not quiet:
        for remark in summary(response):
            note(remark)
    reply = response.reply.message()
    return [prompt, reply] if reply is not None else []
