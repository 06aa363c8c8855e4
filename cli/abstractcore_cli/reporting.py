"""Reports errors of commands as lines or as JSON, and sets the exit code.

The output of `--json`: one object, with `error` if the command failed. Rewrites hints for Python programs into
options of the command line.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer

import abstractcore
from abstractcore.schema import to_data, visible_json

from .exit_codes import exit_code
from .interruptions import AGAIN, INTERRUPTED, INTERRUPTION
from .screen import announce, complain, write

if TYPE_CHECKING:
    from abstractcore.registry import PluginReport

_OPTIONS = {
    "base_url": ("--base-url", "URL"),
    "context_size": ("--context-size", "TOKENS"),
    "max_output_tokens": ("--max-tokens", "TOKENS"),
    "model": ("--model", "NAME"),
    "temperature": ("--temperature", "NUMBER"),
    "timeout": ("--timeout", "SECONDS"),
}
"""Each option in Python, the option of the command, and its argument."""

_OF_FILES = (abstractcore.MediaError, abstractcore.UnsupportedContentError)
_OF_THE_MACHINE = (
    abstractcore.ConfigurationError,
    abstractcore.SessionError,
    abstractcore.ModelStoreError,
    abstractcore.SearchIndexError,
)
_MORE: tuple[tuple[tuple[type[abstractcore.AbstractCoreError], ...], str], ...] = (
    (_OF_FILES, "Run `abstractcore media FILE`: it shows what can be sent."),
    (_OF_THE_MACHINE, "Run `abstractcore doctor`: it checks the configuration, keys and folders."),
    ((abstractcore.NotFoundError,), "Check --base-url, and the name of the model."),
    ((abstractcore.BadRequestError,), "Change what is asked for, or name another --model."),
    ((abstractcore.ProviderError,), "Run it again later, or with another --model."),
    ((abstractcore.AbstractCoreError,), "Add --help to the command: it shows two examples and all options."),
)
"""The hint of an error without one; the first match applies."""

_PHRASES = (
    (", or pass api_key=...", "."),
    ("api_key=..., or ", ""),
    ("Pass api_key=... or headers=...", "Set the provider's environment variable."),
    ("Pass api_key=...", "Set the provider's environment variable."),
    ("Use tts_stream, and write its parts to a file.", "Write it to stdout: --output - > FILE."),
    ("Pass texts as a list: index.add([text]).", "Name a folder or a file that exists."),
    ("None means no limit.", "The default is 600."),
    ("The error's `partial` holds the answer.", 'With --json, the answer is in "partial" of the error.'),
)
"""Texts to replace: the command reads keys from the environment only."""

_BACKEND_KEY = re.compile(r",? or (?:pass )?(?:voice|vision|music)_api_key=\.\.\.(?: (?:to|in) create_llm)?")
_BACKEND = re.compile(r"\b(?:voice|audio|vision|music)_backend(?:=('[^']*'|\.\.\.)|(?=:))")
_CALL = re.compile(r"create_llm\('[^']*', (model=[^()]*)\)")
_PROVIDER = re.compile(r"""create_llm\((["'])([^"',()]+)\1\)""")
_VALUE = re.compile(rf"\b({'|'.join(_OPTIONS)})=('[^']*'|[A-Z]+|\.\.\.)")
_SUGGESTION = " Did you mean "
_NAME = re.compile(rf"(?<![\w-])({'|'.join(name for name in _OPTIONS if '_' in name)}|temperature(?=:)|timeout(?=:))")


def rewritten(error: abstractcore.AbstractCoreError, text: str) -> str:
    """Returns the message or the hint of an error with options of the command; unchanged for an error in a file, whose
    fields have the names of options.
    """
    in_file = isinstance(error, abstractcore.ConfigurationError) and error.file is not None
    return text if in_file else in_options(text)


def in_options(text: str) -> str:
    """Returns `text` with options of the command, as `--timeout SECONDS` for `timeout=SECONDS`."""
    for replaced, written in _PHRASES:
        text = text.replace(replaced, written)
    text = _BACKEND.sub(_backend, _BACKEND_KEY.sub("", text))
    stop = "." if text.endswith("=...") else ""  # "..." as the value at the end of a sentence also ends it
    text = _PROVIDER.sub(r"--provider \2", _CALL.sub(r"\1", text))
    text = _VALUE.sub(_option_with_value, text)
    return _NAME.sub(lambda match: _OPTIONS[match[1]][0], text) + stop


def _backend(match: re.Match[str]) -> str:
    if match[1] is None:
        return "--backend"
    return f"--backend {'NAME' if match[1] == '...' else match[1][1:-1]}"


def _option_with_value(match: re.Match[str]) -> str:
    option, takes = _OPTIONS[match[1]]
    value = match[2].strip("'").replace("...", takes)
    return f"{option} {value}"


def response_json(response: abstractcore.GenerateResponse[Any], output: object = None) -> str:
    """Returns a response as JSON; `output` is the answer of a type, as JSON data."""
    data = json.loads(abstractcore.to_json(response))
    return json_line(
        {
            "content": response.content,
            "output": output,
            "finish_reason": response.finish_reason,
            "provider": response.provider,
            "model": response.model,
            "usage": asdict(response.usage) | {"billing": data["usage"].get("billing")},
            "media": data["media"],
            "tool_steps": [_step(step) for step in response.tool_steps],
            "loop_status": response.loop.status if response.loop is not None else None,
            "warnings": data["warnings"],
            "cost": data["cost"],
            "cost_source": response.cost_source,
            "cost_reason": response.cost_reason,
            "price_rows": response.price_rows,
            "estimated_cost": data.get("estimated_cost"),
            "seconds": response.seconds,
            "trace_id": response.trace_id,
        }
    )


def media_json(result: abstractcore.MediaResult[Any], files: Sequence[Path]) -> str:
    """Returns the result of a backend, and its files, as JSON."""
    return json_line(
        {
            "files": [str(file) for file in files],
            "media_types": [part.blob.media_type for part in result.parts],
            **_facts_of_call(result),
            "metadata": copy.deepcopy(result.metadata),
            **_verification_facts(result),
            "exit_code": 0,
        }
    )


def transcript_json(result: abstractcore.TranscriptResult) -> str:
    """Returns the transcript of a recording as JSON, with the times and the facts of the backend."""
    transcript = to_data(result.transcript)
    return json_line({"text": result.text, "transcript": transcript, **_facts_of_call(result), "exit_code": 0})


def voices_json(voices: Sequence[Mapping[str, object]]) -> str:
    """Returns the voices of a backend as JSON."""
    return json_line({"voices": [copy.deepcopy(voice) for voice in voices], "exit_code": 0})


def _facts_of_call(result: abstractcore.MediaResult[Any] | abstractcore.TranscriptResult) -> dict[str, object]:
    """Returns the facts about the call of a backend."""
    return {
        "backend": result.backend,
        "model": result.model,
        "warnings": [to_data(each) for each in result.warnings],
        "cost": None if result.cost is None else str(result.cost),
        "cost_reason": result.cost_reason,
        "seconds": result.seconds,
        "trace_id": result.trace_id,
    }


def _verification_facts(result: abstractcore.MediaResult[Any]) -> dict[str, object]:
    found = result.verification
    return {} if found is None else {"verification": to_data(found), "word_error_rate": found.word_error_rate}


def _step(step: abstractcore.ToolStep) -> dict[str, object]:
    """Returns a tool call with the text of its result. `data` is the tool's own, where it is JSON."""
    return {
        "round": step.round,
        "id": step.call.id,
        "name": step.call.name,
        "arguments": step.call.arguments if step.call.arguments is not None else step.call.arguments_text,
        "outcome": step.outcome,
        "result": step.result.as_text,
        "data": json.loads(abstractcore.to_json(step)).get("data"),
        "seconds": step.seconds,
    }


def step_json(step: abstractcore.ToolStep) -> str:
    """Returns a tool call with its result as JSON."""
    return json_line(_step(step))


def tools_json(tools: Iterable[tuple[str, abstractcore.ToolSpec]]) -> str:
    """Returns tools, each with the name of its server, as JSON."""
    found = [(server, json.loads(abstractcore.to_json(tool))) for server, tool in tools]
    return json_line({"tools": [{"server": server, **_plain(data)} for server, data in found]})


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in ("schema_version", "type")}


def plan_json(
    plan: abstractcore.Plan,
    not_run: Sequence[tuple[str, str]],
    refused: Sequence[abstractcore.AbstractCoreError],
    code: int,
) -> str:
    """Returns the decisions for files, warnings, and estimates of the tokens and the cost, as JSON.

    `not_run` has the files whose losses are unknown, with the reason, and `errors` has those of files that are refused.
    """
    media, warnings = ([to_data(each) for each in found] for found in (plan.media, plan.warnings))
    return json_line(
        {
            "media": media,
            "not_run": [{"source": source, "reason": reason} for source, reason in not_run],
            "errors": [{**error_facts(each), "source": getattr(each, "source", None)} for each in refused],
            "warnings": warnings,
            "estimated_input_tokens": plan.estimated_input_tokens,
            "estimated_cost": plan.estimated_cost and to_data(plan.estimated_cost),
            "exit_code": code,
        }
    )


def error_json(error: abstractcore.AbstractCoreError, code: int) -> str:
    """Returns an error as JSON; `partial` is the text of the answer so far, `tool_steps` the tool calls before it."""
    loop: abstractcore.ToolLoop | None = getattr(error, "loop", None)
    return json_line(
        {
            "error": {
                **error_facts(error),
                "provider": error.provider,
                "model": error.model,
                "status": error.status,
                "request_id": error.request_id,
                "retryable": error.retryable,
                "retry_after": error.retry_after,
                "partial": error.partial.text if error.partial is not None else None,
            },
            "tool_steps": [_step(step) for step in loop.steps] if loop is not None else [],
            "exit_code": code,
        }
    )


def error_facts(error: abstractcore.AbstractCoreError) -> dict[str, object]:
    return {
        "type": type(error).__name__,
        "message": rewritten(error, error.message),
        "hint": error.hint and rewritten(error, error.hint),
    }


def plugins_json(reports: Iterable[PluginReport], backends: Sequence[Mapping[str, object]], code: int) -> str:
    """Returns plugin reports and backends as JSON; `registered` holds pairs of a kind and a name."""
    plugins = [{**asdict(report), "slow": report.slow} for report in reports]
    return json_line({"plugins": plugins, "backends": backends, "exit_code": code})


def catalogue_json(data: Mapping[str, object]) -> str:
    """Returns the catalogue's facts as JSON."""
    return json_line({**data, "exit_code": 0})


def json_line(data: Mapping[str, object]) -> str:
    """Returns one line. JSON escapes ASCII control characters; others are as dangerous to a terminal."""
    return visible_json(json.dumps(data, ensure_ascii=False)) + "\n"


@contextmanager
def reported(*, as_json: bool = False) -> Generator[None]:
    """Runs the body of a command; reports an `AbstractCoreError`, or an `OSError` of a file, and raises `typer.Exit`.

    What has no hint of its own gets the command that shows more.
    """
    try:
        yield
    except abstractcore.AbstractCoreError as error:
        _end_with(error, as_json=as_json)
    except OSError as error:
        if error.filename is None:  # a stream's, which `main` reports
            raise
        _end_with(file_error(error), as_json=as_json)


def _end_with(error: abstractcore.AbstractCoreError, *, as_json: bool) -> NoReturn:
    code = exit_code(error)
    error.hint = error.hint or next((hint for kinds, hint in _MORE if isinstance(error, kinds)), None)
    if as_json:
        write(error_json(error, code))
    else:
        print_error(error)
    raise typer.Exit(code) from None


def file_error(error: OSError) -> abstractcore.InvalidInputError:
    """Returns what to report for a file or folder that cannot be used."""
    from abstractcore.registry import similar_path

    problem = f"{error.filename} cannot be used: {error.strerror or type(error).__name__}."
    hint = similar_path(str(error.filename)) or "Check the path, and that you may read and write there."
    return abstractcore.InvalidInputError(problem, hint=hint)


@contextmanager
def interruption_reported(*, as_json: bool) -> Generator[None]:
    """Wraps a command: after a Ctrl-C, says so and what to type next, and raises `typer.Exit`."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        hint = next(iter(getattr(interrupt, "__notes__", ())), AGAIN)
        if as_json:
            facts = {"type": type(interrupt).__name__, "message": INTERRUPTION, "hint": hint}
            write(json_line({"error": facts, "exit_code": INTERRUPTED}))
        else:
            announce(f"{INTERRUPTION}\n{hint}")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def usage_reported(*, as_json: bool) -> Generator[None]:
    """Wraps the parsing of arguments: usage errors are reported like other errors, with the help to read."""
    try:
        yield
    except typer.TyperException as error:
        message = error.format_message()
        if message.startswith("Usage: "):  # a group without a command shows its help
            raise
        with reported(as_json=as_json):
            problem, hint = _problem_and_hint(error, message)
            raise abstractcore.InvalidInputError(problem, hint=hint) from None


def _problem_and_hint(error: typer.TyperException, message: str) -> tuple[str, str]:
    """Returns what is wrong with the arguments, and the nearest names or the help to read."""
    # Their dashes make any two options alike.
    possible = cast("Sequence[str]", getattr(error, "possibilities", None) or ())
    options = {each.lstrip("-"): each for each in possible}
    if options:
        from abstractcore.registry import did_you_mean, nearest_names

        near = nearest_names(str(getattr(error, "option_name", "")).lstrip("-"), options)
        if near:
            return error.message, did_you_mean([options[each] for each in near])
        message = error.message
    before, suggests, near_names = message.rpartition(_SUGGESTION)
    if suggests and near_names.endswith("?"):
        return before.removesuffix("."), f"{_SUGGESTION.lstrip()}{near_names}"
    names = list[str]()
    context = getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return message.rstrip("."), f"Run `{' '.join(['abstractcore', *names, '--help'])}`."


def print_error(error: abstractcore.AbstractCoreError) -> None:
    """Prints an error, and its hint on a line of its own."""
    complain(*error_lines(error))


def error_lines(error: abstractcore.AbstractCoreError) -> tuple[str, str | None]:
    """Returns the message of an error, and its hint."""
    hint = error.hint
    message = str(error)
    message = message.removesuffix(hint).rstrip() if hint else message
    return rewritten(error, message), hint and rewritten(error, hint)
