"""Options that several commands take."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Provider: TypeAlias = Annotated[
    str | None,
    typer.Option("--provider", "-p", help="Who answers: a provider, or provider/model; without it the embedded model."),
]
Model: TypeAlias = Annotated[str | None, typer.Option("--model", "-m", help="The model's name.")]
System: TypeAlias = Annotated[str | None, typer.Option("--system", "-s", help="The system prompt.")]
Media: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--media", "-f", metavar="FILE", help="A file or URL to ask about; may be given several times."),
]
Temperature: TypeAlias = Annotated[
    float | None, typer.Option("--temperature", "-t", help="How freely words are chosen; 0 is least.")
]
MaxTokens: TypeAlias = Annotated[int | None, typer.Option(help="The longest answer, in tokens.")]
Timeout: TypeAlias = Annotated[float | None, typer.Option(help="Seconds for all of it; 600 unless given.")]
ContextSize: TypeAlias = Annotated[
    int | None, typer.Option(help="Room for prompt and answer together, in tokens, where it can be set.")
]
BaseUrl: TypeAlias = Annotated[str | None, typer.Option(help="The provider's address, if not its usual one.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]
ModelName: TypeAlias = Annotated[
    str, typer.Argument(help="A name from the catalogue, or hf:owner/repository[/file].", show_default=False)
]
