"""`abstractcore chat`: reads lines, each of which is a question or a command; shows what was said before."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import abstractcore
from abstractcore.schema.amounts import counted, sums

from ..plugins import ConnectionArguments, connections, create, registry
from ..reporting import print_error, reported
from ..screen import note, write
from ..sessions.last import keep_last
from ..sessions.opening import chosen_path, opened_session, with_last_model
from ..toolbox import ToolArguments, toolbox
from ..tracing.conversations import shortened
from .commands import ChatCommands
from .turns import ChatSession

if TYPE_CHECKING:
    from abstractcore.sessions import SessionExchange

_LAST_WORDS = ("/exit", "/quit")
"""What ends a chat whose lines are piped; other commands are only those of a person: piped text may be of anyone."""
_RECALLED = 3
"""How many exchanges are shown when a conversation goes on."""


@dataclass(frozen=True, slots=True)
class ChatArguments:
    """The arguments of `chat`; `session` is the name or the path of a session file, `media` are files for the first
    question.
    """

    connection: ConnectionArguments
    tools: ToolArguments
    system: str | None = None
    session: str | None = None
    media: tuple[str, ...] = ()
    continues: bool = False


def converse(arguments: ChatArguments) -> None:
    """Runs the conversation until the user ends it. If stdin is not a terminal, an error ends it too."""
    interactive = sys.stdin.isatty()
    with reported(), _opened(arguments) as chat:
        commands = ChatCommands(chat)
        if interactive and not arguments.connection.quiet:
            for remark in _greeting(chat):
                note(remark)
        while not commands.is_over and (line := _next_line(interactive)) is not None:
            try:
                if not interactive or not commands.run(line):
                    chat.ask(line.removeprefix("/") if interactive and line.startswith("//") else line)
            except abstractcore.AbstractCoreError as error:
                if not interactive:
                    raise
                print_error(error)


@contextlib.contextmanager
def _opened(arguments: ChatArguments) -> Generator[ChatSession]:
    plugins = registry()
    tools = toolbox(arguments.tools, plugins)
    path = chosen_path(arguments.session, continues=arguments.continues)
    with connections(plugins, quiet=arguments.connection.quiet) as services:
        connection = with_last_model(arguments.connection, path, services)
        llm = create(connection, services)
        session = opened_session(llm, path, tools, arguments.system, keep_partial=True)
        chat = ChatSession(session, tools, connection, services, path)
        try:
            for file in arguments.media:
                chat.add_file(file, hint="Write --media PATH, as in --media notes.pdf.")
            yield chat
        except KeyboardInterrupt as interrupt:
            if chat.session.exchanges:
                interrupt.add_note("`abstractcore chat -c` continues this conversation.")
            raise
        finally:
            if chat.path is None:
                keep_last(chat.session)
            chat.session.close()


def _greeting(chat: ChatSession) -> Iterator[str]:
    """Yields what a conversation begins with: the model, and the last exchanges of one that goes on."""
    session = chat.session
    yield f"{chat.model}: /help lists the commands, Ctrl-D ends the chat, Ctrl-C stops an answer"
    for repair in session.notes:
        yield f"repaired: {repair.message}"
    if chat.files:
        yield f"with the first question: {', '.join(chat.files)}"
    if chat.name is None:
        return
    if not session.exchanges:
        yield f"{chat.name}: a new conversation"
        return
    yield f"{chat.name}: {counted(len(session.exchanges), 'exchange')}, {sums(session.cost)}"
    for exchange in session.exchanges[-_RECALLED:]:
        yield from _lines(exchange)
    if session.loop is not None:
        yield "The last question was cut off: /resume goes on with it, another question leaves it out."


def _lines(exchange: SessionExchange) -> Iterator[str]:
    """Yields the question and the answer, each in one line."""
    for messages, mark in ((exchange.question, "> "), (exchange.messages[exchange.asked :], "")):
        texts = [message.text for message in messages if message.role != "tool" and message.text.strip()]
        if messages:
            yield f"{mark}{shortened(' '.join(texts)) or '(no text)'}"


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
    return None if not interactive and line in _LAST_WORDS else line
