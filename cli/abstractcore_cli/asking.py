"""`abstractcore ask`: one question, one answer, once `app.py` has read its arguments.

Text that is piped or redirected to stdin. The lines below an answer: how each file was sent, warnings, tokens,
seconds and cost. The lines that show tool calls and their results as they happen.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import abstractcore

from .plugins import ConnectionArguments, connected, registry
from .reporting import reported, response_json
from .screen import note, prints_to_stderr, write
from .toolbox import ToolArguments, final_result, is_final, toolbox
from .tracing.amounts import dollars


def piped_text(hint: str) -> str | None:
    """Returns piped or redirected text. A terminal or /dev/null is not read.

    Raises `InvalidInputError` with `hint` for what is not UTF-8 text.
    """
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return None
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise abstractcore.InvalidInputError("stdin is not UTF-8 text.", hint=hint) from None


_LOOP_ENDS = {
    "repeated_failure": "the same tool call failed several times",
    "max_rounds": "the limit of rounds is reached",
    "max_calls": "the limit of tool calls is reached",
}


def summary(response: abstractcore.GenerateResponse[Any]) -> Iterator[str]:
    """Yields the lines in order."""
    for decision in response.media:
        yield _decision(decision)
    for warning in response.warnings:
        yield f"warning: {warning.message}"
    if response.loop is not None and response.loop.status != "answered":
        yield from _loop_warning(response.loop.status)
    elif response.finish_reason != "stop":
        yield f"warning: the answer may be incomplete: finish_reason is {response.finish_reason!r}"
    yield f"{response.provider}/{response.model}: {_took(response)}"


def _loop_warning(status: str) -> Iterator[str]:
    if status != "final":
        yield f"warning: there is no answer: {_LOOP_ENDS.get(status, status)}"


def _decision(decision: abstractcore.MediaDecision) -> str:
    line = f"{decision.source}: {decision.route}, since {decision.reason}"
    if decision.sent is None:
        return line
    size = "" if decision.sent.size is None else f", {decision.sent.size:,} bytes"
    return f"{line}; sent {_types(decision.sent)}{size}"


def _types(sent: abstractcore.MediaSent) -> str:
    """The media types that were sent, with how many parts of each if one file became several."""
    counts = Counter(part.media_type for part in sent.parts)
    return ", ".join(f"{count} x {media_type}" for media_type, count in counts.items()) or sent.media_type


def _took(response: abstractcore.GenerateResponse[Any]) -> str:
    usage = response.usage
    cached = f" ({usage.cached} cached)" if usage.cached else ""
    tokens = f"{_count(usage.input)} tokens in{cached}, {_count(usage.output)} out"
    return f"{tokens}, {response.seconds:.1f} s, {_cost(response)}"


def _cost(response: abstractcore.GenerateResponse[Any]) -> str:
    """The exact cost; "about" if it is an estimate; why it is not known."""
    if response.cost is None:
        return f"unknown cost ({response.cost_reason})" if response.cost_reason else "unknown cost"
    about = "about " if response.cost and response.cost_source == "estimate" else ""
    return f"{about}{dollars(response.cost)}"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)


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
        tools = toolbox(choices, plugins, None if streamed or silent else show_event)
        request = abstractcore.CallRequest(
            media=question.media, system_prompt=question.system, tools=tools.tools, run_tools=tools.run_tools
        )
        with connected(connection, plugins) as llm:
            if streamed:
                response = _stream_answer(llm.stream(prompt, **request), silent)
                while response.pending:
                    response = _stream_answer(tools.resumed_stream(llm, response), silent)
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


def _stream_answer(stream: abstractcore.Stream[Any], silent: bool) -> abstractcore.GenerateResponse[Any]:
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

    note(tool_line(event))


def _prompt(question: AskArguments) -> str | None:
    prompt = "\n\n".join(text for text in (question.text, piped_text(_FILES)) if text and text.strip())
    if not prompt and not question.media:
        raise abstractcore.InvalidInputError(
            "no question given.",
            hint='Write abstractcore ask "QUESTION", pipe text in, or pass a file with --media FILE.',
        )
    return prompt or None


_LONGEST = 300


def tool_line(event: abstractcore.ToolEvent) -> str:
    """Returns one line for an event."""
    match event:
        case abstractcore.ToolStarted():
            return _limit(f"-> {event.call.name}({event.call.arguments_text})")
        case abstractcore.ToolProgress():
            total = "" if event.total is None else f" of {event.total:g}"
            message = f" {event.message}" if event.message else ""
            return f"   {_limit(f'{event.call.name}: {event.done:g}{total}{message}')}"
        case abstractcore.ToolEnded(step):
            outcome = "" if step.outcome == "done" else f"{step.outcome}: "
            files = sum(not isinstance(part, abstractcore.TextPart) for part in step.result.content)
            return _limit(f"<- {outcome}{step.result.as_text}") + (f" [files: {files}]" if files else "")


def _limit(line: str) -> str:
    """Returns the text on one line, shortened."""
    line = " ".join(line[: 2 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
