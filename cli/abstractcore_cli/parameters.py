"""Options that several commands take.

The exit codes of errors.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

import abstractcore

from . import completing

Provider: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--provider",
        "-p",
        help="PROVIDER or PROVIDER/MODEL; default: the embedded model.",
        autocompletion=completing.providers,
    ),
]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", "-m", help="The model's name, or PROVIDER/MODEL.", autocompletion=completing.models),
]
System: TypeAlias = Annotated[str | None, typer.Option("--system", "-s", help="The system prompt.")]
Media: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--media", "-f", metavar="FILE", help="A file or URL to ask about; may be repeated."),
]
Temperature: TypeAlias = Annotated[
    float | None, typer.Option("--temperature", "-t", help="Randomness of the answer, from 0.")
]
MaxTokens: TypeAlias = Annotated[int | None, typer.Option(help="The maximum length of the answer in tokens.")]
Timeout: TypeAlias = Annotated[float | None, typer.Option(help="Timeout of the call in seconds; default: 600.")]
ContextSize: TypeAlias = Annotated[
    int | None, typer.Option(help="Context window in tokens, prompt and answer together; for local and ollama.")
]
BaseUrl: TypeAlias = Annotated[str | None, typer.Option(help="URL of the provider's API, if not the default.")]
Tool: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--tool",
        metavar="MODULE:FUNCTION",
        help="A Python function that the model may call; a module, for all of its tools; or a tool source of a plugin. "
        "May be repeated.",
    ),
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Run all tool calls without asking.")]
MaxRounds: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="The most replies that may call tools; then the model must answer. Default: 16."),
]
Backend: TypeAlias = Annotated[
    str | None, typer.Option("--backend", help="The backend, as abstractcore plugins lists it; default: the first one.")
]
BackendModel: TypeAlias = Annotated[str | None, typer.Option("--backend-model", help="The model of the backend.")]
BackendUrl: TypeAlias = Annotated[
    str | None, typer.Option("--base-url", help="URL of the backend's API, if not the default.")
]
BackendOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="A further argument of the backend; may be repeated."),
]
Session: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="NAME",
        help="Keep the conversation under this name, or in this file, and go on with it.",
        autocompletion=completing.sessions,
    ),
]
Continues: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--continue",
        "-c",
        help="Continue the last conversation. One without a name is kept until the next one, in last.session of your "
        "data folder; with ABSTRACTCORE_KEEP_LAST=off, it is not.",
    ),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors to stderr.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
ModelName: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A name from the catalogue, or hf:owner/repository[/file].",
        show_default=False,
        autocompletion=completing.weights,
    ),
]


_CODES: tuple[tuple[type[abstractcore.AbstractCoreError], int], ...] = (
    (abstractcore.ConnectionFailedError, 4),
    (abstractcore.RequestTimeoutError, 4),
    (abstractcore.LimitExceededError, 4),
    (abstractcore.StreamInterruptedError, 4),
    (abstractcore.ToolServerError, 4),
    (abstractcore.ProviderError, 3),
    (abstractcore.ConfigurationError, 2),
    (abstractcore.InvalidInputError, 2),
    (abstractcore.SchemaError, 2),
    (abstractcore.MediaError, 2),
    (abstractcore.ModelStoreError, 2),
    (abstractcore.ArtifactError, 2),
    (abstractcore.JournalError, 2),
    (abstractcore.SessionError, 2),
    (abstractcore.SearchIndexError, 2),
    (abstractcore.EmbeddingCacheError, 2),
    (abstractcore.UnsupportedContentError, 2),
    (abstractcore.UnsupportedOptionError, 2),
)
"""The first match applies."""

EPILOG = """\
API keys are read from the environment only (such as OPENAI_API_KEY): other users of a machine can see arguments.

\b
Exit codes:
  0    done
  1    any other error
  2    usage error: an option, a file, the setup, a missing API key
  3    the provider rejected the request or failed
  4    connection error or timeout
  130  Ctrl-C
"""


def exit_code(error: abstractcore.AbstractCoreError) -> int:
    """Returns the exit code for `error`. A missing key is a usage error: it was never sent to the provider. That of a
    group is that of the last member that was asked.
    """
    if isinstance(error, abstractcore.AuthenticationError) and not error.attempts and error.status is None:
        return exit_code(abstractcore.ConfigurationError(error.message))
    if isinstance(error, abstractcore.FallbackExhaustedError) and error.causes:
        asked = [each.error for each in error.causes if each.is_sent]
        return exit_code(asked[-1] if asked else error.causes[-1].error)
    return next((code for kind, code in _CODES if isinstance(error, kind)), 1)
