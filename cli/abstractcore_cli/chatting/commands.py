"""The commands of a chat: lines that begin with a slash."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import abstractcore
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.schema.amounts import counted, sums, tokens

from ..reporting import in_options
from ..screen import note
from ..sessions.names import new_session_path
from ..tracing.conversations import shortened
from .turns import ChatSession

_COMMAND: Final = re.compile(r"/([A-Za-z][\w-]*|\?)(?:\s+(.*))?", re.DOTALL)
"""Other lines with a slash, such as those that begin with a path, are questions."""
_ALIASES: Final = {"quit": "exit", "?": "help"}
_OPTIONS: Final = re.compile(r"--(?:provider|model)\b")


@dataclass(frozen=True, slots=True)
class _Command:
    run: Callable[[str], None]
    help: str
    argument: str = ""

    def check(self, name: str, argument: str) -> None:
        """Raises `InvalidInputError` for an argument that is missing, or that the command does not take."""
        if argument and not self.argument:
            raise abstractcore.InvalidInputError(f"/{name} takes no argument", hint=f"Write /{name} alone.")
        if self.argument and not argument and not self.argument.startswith("["):
            hint = f"Write /{name} {self.argument}."
            raise abstractcore.InvalidInputError(f"/{name} needs {self.argument}", hint=hint)


class ChatCommands:
    """The commands of a chat by their names. `is_over` says that the user has ended it."""

    def __init__(self, chat: ChatSession) -> None:
        self._chat = chat
        self.is_over = False
        self._commands = {
            "undo": _Command(self._undo, "take back the last question and its answer"),
            "fork": _Command(self._fork, "go on in a copy of this name; this conversation stays as it is", "NAME"),
            "model": _Command(self._model, "ask another model from now on; several names are a group", "[NAME ...]"),
            "compact": _Command(
                self._compact, "summarise all but the last exchanges, with most about FOCUS", "[FOCUS]"
            ),
            "cost": _Command(self._cost, "show the tokens and the cost of this conversation"),
            "file": _Command(self._file, "send a file or a URL with the next question", "[PATH]"),
            "tools": _Command(self._tools, "list the tools that the model may call"),
            "resume": _Command(self._resume, "go on with an answer that was cut off"),
            "help": _Command(self._help, "list the commands"),
            "exit": _Command(self._exit, "end the chat, as Ctrl-D does"),
        }

    def run(self, line: str) -> bool:
        """Runs a line if it is a command; returns whether it is one. An unknown command is one, too.

        Raises `AbstractCoreError` if the command fails.
        """
        match = _COMMAND.fullmatch("/help" if line == "/" else line)
        if match is None:
            return False
        name, argument = match[1].lower(), (match[2] or "").strip()
        name = _ALIASES.get(name, name)
        command = self._commands.get(name)
        if command is None:
            near = nearest_names(name, [*self._commands, *_ALIASES])
            hint = did_you_mean([f"/{each}" for each in near]) if near else "/help lists the commands."
            note(f"unknown command /{name}: {hint} A line that begins with // is sent to the model.")
            return True
        command.check(name, argument)
        try:
            command.run(argument)
        except KeyboardInterrupt:
            note("stopped")
        return True

    def _undo(self, _: str) -> None:
        (question, *_rest) = self._chat.session.undo()
        note(f"taken back: {shortened(question.text)}")

    def _fork(self, name: str) -> None:
        path = new_session_path(name)
        chat = self._chat
        fork, before, chat.path = chat.session.fork(path), chat.name, path
        chat.session.close()
        chat.session = fork
        stays = "" if before is None else f"; {before} stays as it is"
        note(f"the conversation goes on in {chat.name}{stays}")

    def _model(self, name: str) -> None:
        chat = self._chat
        if name:
            from ..plugins import create

            names = name.split()
            connection = replace(chat.connection, provider=name, model=None)
            if names[0].partition("/")[0] != chat.session.llm.provider:
                connection = replace(connection, base_url=None)
            try:
                llm = create(connection, chat.services, group=names if len(names) > 1 else ())
            except abstractcore.AbstractCoreError as error:
                error.hint = error.hint and _OPTIONS.sub("/model", in_options(error.hint))
                raise
            chat.session = chat.session.with_llm(llm)
        note(f"{chat.model} is asked from now on" if name else f"{chat.model} is asked")

    def _compact(self, focus: str) -> None:
        done = self._chat.session.compact(focus=focus or None)
        for warning in done:
            note(warning.message)
        if not done:
            note("nothing was compacted: the last exchanges stay as they are")

    def _cost(self, _: str) -> None:
        session = self._chat.session
        usage, rate = session.usage, session.usage.cached_rate
        cached = "" if rate is None else f" ({rate:.0%} from a cache)"
        note(f"{counted(len(session.exchanges), 'exchange')}, {sums(session.cost)}")
        if session.exchanges or usage.input is not None:
            note(f"{tokens(usage.input)} tokens in{cached}, {tokens(usage.output)} out")
        window = session.llm.profile.context_tokens
        share = "" if window is None else f" of {window:,}"
        note(f"the context of {self._chat.model} holds about {session.estimated_tokens:,}{share} tokens")

    def _file(self, path: str) -> None:
        if path:
            self._chat.add_file(_typed_path(path), hint="Write /file PATH, as in /file notes.pdf.")
        files = self._chat.files
        note(f"with the next question: {', '.join(files)}" if files else "no file goes with the next question")

    def _tools(self, _: str) -> None:
        tools = self._chat.tools
        if not tools.specs:
            note("there are no tools: start the chat with --tool MODULE:FUNCTION")
        for spec in tools.specs:
            first = (spec.description or "").strip().partition("\n")[0]
            note(f"{spec.name}{' (you are asked first)' if tools.asks_about(spec.name) else ''}: {first}")

    def _help(self, _: str) -> None:
        for name, command in self._commands.items():
            note(f"{f'/{name} {command.argument}'.rstrip()}: {command.help}")
        note("Any other line is a question; one that begins with // is sent with one slash. Ctrl-C stops an answer.")

    def _resume(self, _: str) -> None:
        self._chat.resume()

    def _exit(self, _: str) -> None:
        self.is_over = True


def _typed_path(text: str) -> str:
    """Returns a path as it was typed, or as a shell reads it: terminals paste the path of a file that is dropped on
    them in quotes, or with a backslash before each space.
    """
    try:
        as_shell = " ".join(shlex.split(text))
    except ValueError:  # an odd quote
        as_shell = text
    found = (each for each in (text, as_shell) if os.path.exists(os.path.expanduser(each)))
    return next(found, text.strip("\"'"))
