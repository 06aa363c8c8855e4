"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

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
Tag: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", metavar="NAME=VALUE", help="A tag of the calls, for abstractcore costs --by tag:NAME; may be repeated."
    ),
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
