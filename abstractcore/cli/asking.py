"""`abstractcore ask`: one question, one answer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import abstractcore

from ..client.options import CallRequest
from .connection import ConnectionArguments, connected
from .json_output import response_json
from .piped import piped_text
from .plugins import registry
from .reporting import reported
from .screen import note, prints_to_stderr, write
from .summary import summary
from .toolbox import ToolArguments, final_result, is_final, toolbox

_FILES = "Pass images, audio and documents with --media FILE."
_TOOL_EVENTS = ("tool_started", "tool_progress", "tool_ended")


@dataclass(frozen=True, slots=True)
class AskArguments:
    """The question of `ask`: its text, files and options."""

    text: str | None
    media: tuple[str, ...]
    system: str | None


def answer(
    question: AskArguments,
    connection: ConnectionArguments,
    choices: ToolArguments,
    *,
    stream: bool | None,
    as_json: bool,
) -> None:
    """Asks, and prints the answer. `stream` None means: if stdout is a terminal."""
    with reported(as_json=as_json):
        if as_json and stream:
            raise abstractcore.InvalidInputError("--json cannot be combined with --stream.", hint="Leave out --stream.")
        prompt = _prompt(question)
        streamed = stream or (stream is None and not as_json and sys.stdout.isatty())
        silent = connection.quiet or as_json
        plugins = registry()
        tools = toolbox(choices, plugins, connection.timeout, None if streamed or silent else show_event)
        request = CallRequest(
            media=question.media, system_prompt=question.system, tools=tools.tools, run_tools=tools.run_tools
        )
        with connected(connection, plugins) as llm:
            if streamed:
                response = _streamed(llm.stream(prompt, **request), silent)
                while response.pending:
                    response = _streamed(tools.resumed_stream(llm, response), silent)
            else:
                with prints_to_stderr():
                    response = llm.generate(prompt, **request)
                while response.pending:
                    response = tools.resumed(llm, response)
        if as_json:
            write(response_json(response))
        elif not streamed or is_final(response):
            write(f"{final_result(response) if is_final(response) else response.content}\n")
        if not connection.quiet and not as_json:
            for line in summary(response):
                note(line)


def _streamed(stream: abstractcore.Stream[Any], silent: bool) -> abstractcore.GenerateResponse[Any]:
    with stream:
        write_stream(stream, silent)
    return stream.response


def write_stream(stream: abstractcore.Stream[Any], silent: bool) -> None:
    """Prints the answer to stdout as it is generated, and tool calls to stderr unless `silent`. Ends each line that was
    begun, also after an error.
    """
    last, stdout = "\n", sys.stdout
    try:
        with prints_to_stderr():
            for event in stream:
                if isinstance(event, abstractcore.TextDelta):
                    write(event.text, stdout)
                    last = event.text or last
                elif isinstance(event, abstractcore.ReplyEnd):  # before its tools print anything
                    if not last.endswith("\n"):
                        write(last := "\n", stdout)
                elif not silent and event.type in _TOOL_EVENTS:
                    show_event(event)
    finally:
        if not last.endswith("\n"):
            write("\n")


def show_event(event: Any) -> None:
    """Prints a line for the event of a tool."""
    from .tool_lines import tool_line

    note(tool_line(event))


def _prompt(question: AskArguments) -> str | None:
    prompt = "\n\n".join(text for text in (question.text, piped_text(_FILES)) if text and text.strip())
    if not prompt and not question.media:
        raise abstractcore.InvalidInputError(
            "no question given.",
            hint='Write abstractcore ask "QUESTION", pipe text in, or pass a file with --media FILE.',
        )
    return prompt or None
