"""The command `abstractcore serve` and its arguments. Its code is imported when it is called."""

from __future__ import annotations

from typing import Annotated

import typer

from . import parameters as given


def serve(
    config: Annotated[str | None, typer.Option(metavar="FILE", help="The configuration, a TOML file.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen at; default: 127.0.0.1.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; default: 8000; 0 is any free one.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name by which clients reach the server. May be repeated."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="A web page of another address that may use the server. May be repeated."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="The number of processes that answer; default: 1.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Report all mistakes of the configuration, and end.")] = False,
    check_mcp: Annotated[
        bool, typer.Option("--check-mcp", help="Check the configuration, start its MCP servers, and end.")
    ] = False,
    quiet: given.Quiet = False,
) -> None:
    """Serve models to clients of OpenAI's, Anthropic's, Google's, Cohere's and Ollama's APIs.

    Without a configuration, the embedded model answers, and every vendor whose key is in the environment:

        abstractcore serve

        OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none python client.py

    To be reached from other machines, it needs keys: abstractcore keys create NAME, or ABSTRACTCORE_SERVER_KEY.
    """
    from .http_server import ServeOptions
    from .http_server import serve as run

    hosts, origins = tuple(allow_host or ()), tuple(allow_origin or ())
    run(ServeOptions(config, host, port, hosts, origins, workers, check, check_mcp, quiet))
