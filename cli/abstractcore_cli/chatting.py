"""`abstractcore chat`: a conversation in the terminal."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import abstractcore

from .asking import summary, write_stream
from .plugins import ConnectionArguments, connected, registry
from .reporting import print_error, reported
from .screen import note, write
from .toolbox import ToolArguments, Toolbox, final_result, is_final, toolbox

_LAST_WORDS = ("/exit", "/quit")
_COMMAND = re.compile("/[a-z]+")


def converse(connection: ConnectionArguments, choices: ToolArguments, system: str | None) -> None:
    """Runs the conversation until the user ends it. If stdin is not a terminal, an error ends it too."""
    interactive = sys.stdin.isatty()
    with reported(), _open(connection, choices) as (llm, tools):
        if interactive and not connection.quiet:
            note(f"{llm.provider}/{llm.model}: /exit or Ctrl-D ends the chat, Ctrl-C stops an answer")
        history = [abstractcore.Message.system(system)] if system else []
        while (line := _next_line(interactive)) is not None:
            if interactive and _COMMAND.fullmatch(line):
                note(f"unknown command {line}: /exit ends the chat, any other text is sent to the model")
                continue
            try:
                history += _ChatTurn(llm, tools, connection.quiet).messages(history, line)
            except abstractcore.AbstractCoreError as error:
                if not interactive:
                    raise
                print_error(error)
                history += _messages_before(error, line)


@contextlib.contextmanager
def _open(connection: ConnectionArguments, choices: ToolArguments) -> Generator[tuple[abstractcore.LLM, Toolbox]]:
    plugins = registry()
    tools = toolbox(choices, plugins)
    with connected(connection, plugins) as llm:
        yield llm, tools


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


@dataclass(frozen=True, slots=True)
class _ChatTurn:
    """A question and its answer, with the tool calls between them."""

    llm: abstractcore.LLM
    tools: Toolbox
    quiet: bool

    def messages(self, history: Sequence[abstractcore.Message], line: str) -> list[abstractcore.Message]:
        """Returns the messages of the turn, which can be sent again however it ends; none if there was no answer."""
        prompt = abstractcore.Message.user(line)
        tools, policy = self.tools.tools, self.tools.run_tools
        stream = self.llm.stream(messages=[*history, prompt], tools=tools, run_tools=policy)
        while True:
            with stream:
                try:
                    write_stream(stream, self.quiet)
                except KeyboardInterrupt:
                    return _stop(prompt, _messages_so_far(stream))
                response = stream.response
            if not response.pending:
                break
            try:
                stream = self.tools.resumed_stream(self.llm, response)
            except KeyboardInterrupt:
                return _stop(prompt, _closed_messages(response))
        if is_final(response):
            write(f"{final_result(response)}\n")
        if not self.quiet:
            for remark in summary(response):
                note(remark)
        return [prompt, *response.messages] if response.messages else []


def _stop(prompt: abstractcore.Message, messages: Sequence[abstractcore.Message]) -> list[abstractcore.Message]:
    note("stopped")
    return [prompt, *messages] if messages else []


def _messages_before(error: abstractcore.AbstractCoreError, line: str) -> list[abstractcore.Message]:
    """Returns the messages of a turn whose tools have run, if it can be sent again; otherwise the turn is left out."""
    loop: abstractcore.ToolLoop | None = getattr(error, "loop", None)
    if loop is None or not loop.steps or not error.retryable:
        return []
    return [abstractcore.Message.user(line), *loop.messages]


def _messages_so_far(stream: abstractcore.Stream[Any]) -> list[abstractcore.Message]:
    """Returns the messages of an answer that was stopped: the rounds of its tools, and its text so far."""
    stream.close()
    loop = stream.loop
    latest = loop.replies[-1] if loop is not None and loop.replies else None
    text = "" if stream.partial is latest else stream.partial.text
    done = [] if loop is None else [*loop.messages]
    return [*done, abstractcore.Message.assistant(text)] if text.strip() else done


def _closed_messages(response: abstractcore.GenerateResponse[Any]) -> Sequence[abstractcore.Message]:
    """Returns the messages of a response whose waiting calls are not answered."""
    from abstractcore.tools import close_loop

    assert response.loop is not None
    return close_loop(response.loop, "cancelled", "cancelled").messages
