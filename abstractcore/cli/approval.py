"""Asks the user on the terminal whether tool calls may run."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Generator
from typing import Any

import abstractcore

from .screen import announce, ask_line, escaped

_LONGEST_SHOWN = 4000
_TAIL = 1000
_QUESTION = "Run it? [y]es, [n]o, [a]lways, [e]dit: "
_HELP = (
    "y runs it; n does not, and n REASON tells the model why; a runs this tool without asking; e edits the arguments"
)


def can_ask() -> bool:
    """Returns whether there is a person to ask: stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(pending: abstractcore.PendingCall, always: set[str]) -> abstractcore.ToolAnswer:
    """Shows a call, and returns the user's answer; "always" adds the tool to `always`. The end of input means no."""
    arguments = escaped(json.dumps(_plain(pending.call), ensure_ascii=False))
    announce(f"The model calls {pending.call.name} with {_limited(arguments)}")
    if pending.reason == "data_flow":
        announce("It would send data out after the model has read private data and text from elsewhere.")
    _forget_typed_ahead()
    while (answer := ask_line(_QUESTION)) is not None:
        word, _, rest = answer.strip().partition(" ")
        match word.lower():
            case "y" | "yes":
                return pending.allow()
            case "n" | "no":
                return pending.deny(rest.strip() or "the user does not allow it")
            case "a" | "always":
                always.add(pending.call.name)
                return pending.allow()
            case "e" | "edit":
                if (changed := _edited(arguments)) is not None:
                    return pending.edit(changed)
            case _:
                announce(_HELP)
    return pending.deny("the user does not allow it")


def _plain(call: abstractcore.ToolCall) -> Any:
    return call.arguments_text if call.arguments_json is None else json.loads(call.arguments_json)


def _limited(text: str) -> str:
    """Returns the beginning and the end of a long text, with what is left out."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    head = _LONGEST_SHOWN - _TAIL
    return f"{text[:head]}\n[{len(text) - _LONGEST_SHOWN:,} characters are not shown]\n{text[-_TAIL:]}"


def _edited(arguments: str) -> dict[str, Any] | None:
    """Asks for other arguments as JSON, beginning with these; None if the user gives none."""
    with _prefilled(arguments):
        text = ask_line("Arguments: ")
    if not (text and text.strip()):
        return None
    try:
        changed: object = json.loads(text)
    except ValueError as error:
        announce(f"Not JSON: {error}")
        return None
    if not isinstance(changed, dict):
        announce('Arguments are a JSON object, as in {"city": "Oslo"}')
        return None
    return changed  # pyright: ignore[reportUnknownVariableType]


@contextlib.contextmanager
def _prefilled(text: str) -> Generator[None]:
    """In its body, a line that is asked for begins with `text`, where there is readline."""
    try:
        readline: Any = importlib.import_module("readline")
    except ImportError:
        yield
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook()


def _forget_typed_ahead() -> None:
    """Drops what was typed before the call was shown: it cannot be an answer."""
    with contextlib.suppress(ImportError, OSError):
        termios: Any = importlib.import_module("termios")
        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
