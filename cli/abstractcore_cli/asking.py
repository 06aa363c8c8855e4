"""`abstractcore ask`: one question, one answer, once `app.py` has read its arguments.

What is piped or redirected to stdin. The lines below an answer: how each file was sent, warnings, tokens,
seconds and cost. The lines that show tool calls and their results as they happen.
"""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import abstractcore
from abstractcore.schema import visible_json
from abstractcore.schema.amounts import counted, dollars

from .bounded_input import read_bytes
from .file_progress import FileProgress
from .plugins import ConnectionArguments, connections, create, registry
from .reporting import reported, response_json
from .screen import note, prints_to_stderr, write
from .sessions.last import keep_last, unnamed_path
from .sessions.names import name_of
from .sessions.opening import chosen_path, opened_session, with_last_model
from .toolbox import ToolArguments, Toolbox, final_result, is_final, toolbox

if TYPE_CHECKING:
    from .answer_types import AnswerType


def piped_bytes() -> bytes:
    """Returns what is piped or redirected to stdin. A terminal or /dev/null is not read."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return b""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return b""
    return read_bytes(sys.stdin.buffer, "stdin")


def piped_text(hint: str) -> str:
    """Returns piped or redirected text; raises `InvalidInputError` with `hint` for what is not UTF-8 text."""
    try:
        return piped_bytes().decode("utf-8-sig")
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


_TOOL_EVENTS = ("tool_started", "tool_progress", "tool_ended")
_FILE_MARKS = (b"%PDF-", b"{\\rtf")
"""How files begin that may be text, although nobody would read them as such."""


@dataclass(frozen=True, slots=True)
class AskArguments:
    """The question of `ask`: its text, files and options. `schema` names the type of the answer, `session` the
    conversation that the question is part of; `continues` means the last one.
    """

    text: str | None
    media: tuple[str, ...]
    system: str | None
    schema: str | None = None
    session: str | None = None
    continues: bool = False


def answer(
    question: AskArguments,
    connection: ConnectionArguments,
    choices: ToolArguments,
    *,
    stream: bool | None,
    as_json: bool,
) -> None:
    """Asks, and prints the answer. `stream` None means: if stdout is a terminal, and the answer is text."""
    with reported(as_json=as_json):
        is_streamed = _is_streamed(question, stream, as_json=as_json)
        silent = connection.quiet or as_json
        kind = None if question.schema is None else _answer_type(question.schema)
        path = chosen_path(question.session, continues=question.continues)
        prompt, media = _prompt(question)
        plugins = registry()
        tools = toolbox(choices, plugins, None if is_streamed or silent else show_event)
        with connections(plugins, quiet=connection.quiet) as services, FileProgress(silent=silent) as progress:
            llm = create(with_last_model(connection, path, services), services)
            compact = {} if path is not None else {"compact": None}  # nothing comes before the question
            with opened_session(llm, path, tools, question.system, **compact) as session:
                if path is not None and question.continues and not silent:
                    name = "the last conversation" if path == unnamed_path() else name_of(path)
                    note(f"continues {name}, after {counted(len(session.exchanges), 'exchange')}")
                asked = _Question(session, tools, progress, kind and kind.response_model, is_streamed, silent)
                response = asked.answer(prompt, media)
                if path is None:
                    keep_last(session)
        _show(response, kind, is_streamed=is_streamed, silent=silent, as_json=as_json)


def _answer_type(name: str) -> AnswerType:
    from .answer_types import AnswerType

    return AnswerType.named(name)


def _is_streamed(question: AskArguments, stream: bool | None, *, as_json: bool) -> bool:
    """Returns whether the answer is printed as it is generated; raises `InvalidInputError` where it cannot be."""
    for option, given in (("--json", as_json), ("--schema", question.schema is not None)):
        if given and stream:
            message = f"{option} cannot be combined with --stream."
            raise abstractcore.InvalidInputError(message, hint="Leave out --stream.")
        if given:
            return False
    return sys.stdout.isatty() if stream is None else stream


@dataclass(frozen=True, slots=True)
class _Question:
    """How the question of `ask` is asked."""

    session: abstractcore.Session
    tools: Toolbox
    progress: FileProgress
    response_model: Any
    is_streamed: bool
    silent: bool

    def answer(self, prompt: str | None, media: Sequence[str | io.BytesIO]) -> abstractcore.GenerateResponse[Any]:
        """Asks, and returns the answer once the user has decided about all tool calls. A stream is printed."""
        session, request = self.session, self._request()
        if self.is_streamed:
            response = self._printed(session.stream(prompt, media=media, **request))
        else:
            with prints_to_stderr():
                response = session.ask(prompt, media=media, **request)
        while response.pending:
            self.progress.stop()
            answers = self.tools.answers(response.pending)
            if self.is_streamed:
                response = self._printed(session.resume(answers, stream=True, **request))
            else:
                with prints_to_stderr():
                    response = session.resume(answers, stream=False, **request)
        return response

    def _request(self) -> dict[str, Any]:
        kind = {} if self.response_model is None else {"response_model": self.response_model}
        return {"on_media_progress": self.progress, **kind}

    def _printed(self, stream: abstractcore.Stream[Any]) -> abstractcore.GenerateResponse[Any]:
        with stream:
            write_stream(self.progress.before(stream), self.silent)
        return stream.response


def _show(
    response: abstractcore.GenerateResponse[Any],
    kind: AnswerType | None,
    *,
    is_streamed: bool,
    silent: bool,
    as_json: bool,
) -> None:
    """Prints what is not printed yet: an answer that was not streamed, and the lines below it."""
    output = None if kind is None or is_final(response) else kind.data(response.output)
    if as_json:
        write(response_json(response, output))
    elif is_final(response):
        write(f"{final_result(response)}\n")
    elif kind is not None:
        indent = 2 if sys.stdout.isatty() else None
        write(visible_json(json.dumps(output, ensure_ascii=False, indent=indent)) + "\n")
    elif not is_streamed:
        write(f"{response.content}\n")
    if not silent:
        for line in summary(response):
            note(line)


def write_stream(stream: Iterable[Any], silent: bool) -> None:
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


def _prompt(question: AskArguments) -> tuple[str | None, Sequence[str | io.BytesIO]]:
    """Returns the text and the files of a question: what is piped is appended to the text, or it is a file."""
    piped = piped_bytes()
    text = None if piped.startswith(_FILE_MARKS) or b"\0" in piped else _decoded(piped)
    prompt = "\n\n".join(each for each in (question.text, text) if each and each.strip())
    media: list[str | io.BytesIO] = [*question.media]
    if text is None:
        media.append(_file(piped))
    if not prompt and not media:
        raise abstractcore.InvalidInputError(
            "no question given.",
            hint='Write abstractcore ask "QUESTION", pipe text in, or pass a file with --media FILE.',
        )
    return prompt or None, media


def _file(content: bytes) -> io.BytesIO:
    """Returns what is piped as a file, which errors and decisions name."""
    file = io.BytesIO(content)
    file.name = "stdin"
    return file


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


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
