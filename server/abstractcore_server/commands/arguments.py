"""`abstractcore serve`, `keys` and `verify`: their arguments. Their code is imported when they are called."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from abstractcore.errors import InvalidInputError
from abstractcore_cli.toolkit import EPILOG, Json, Quiet, json_line, reported, show_table, write

keys = typer.Typer(help="The keys by which clients use `abstractcore serve`.", no_args_is_help=True)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The key's name.", show_default=False)]
_Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="ABSTRACTCORE_SERVER_DATABASE",
        help="The database of the server, such as sqlite:////folder/server.db; default: a file in your data folder.",
    ),
]


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
    quiet: Quiet = False,
) -> None:
    """Serve models to clients of OpenAI's, Anthropic's, Google's, Cohere's and Ollama's APIs.

    Without a configuration, the embedded model answers, and every vendor whose key is in the environment:

        abstractcore serve

        abstractcore serve --config server.toml --port 8080

        export OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none

    To be reached from other machines, it needs keys: abstractcore keys create NAME, or ABSTRACTCORE_SERVER_KEY.
    """
    from .serving import ServeOptions
    from .serving import serve as run

    hosts, origins = tuple(allow_host or ()), tuple(allow_origin or ())
    run(ServeOptions(config, host, port, hosts, origins, workers, check, check_mcp, quiet))


@keys.command("create", epilog=EPILOG)
def create_key(
    name: _Name,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A model it may use, such as openai/*; default: all. May be repeated."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it expires: 90d, 12h, 30m, or a date such as 2027-01-31.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A tag of the records of its calls. May be repeated."),
    ] = None,
    requests: Annotated[
        int | None, typer.Option("--requests-per-minute", min=1, help="Calls of models in any minute.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens-per-minute", min=1, help="Tokens, sent and received, in any minute.")
    ] = None,
    parallel: Annotated[int | None, typer.Option(min=1, help="Calls of models at once.")] = None,
    usd_per_day: Annotated[
        float | None, typer.Option(metavar="DOLLARS", help="What its calls may cost in a day of UTC, in US dollars.")
    ] = None,
    usd_per_month: Annotated[
        float | None, typer.Option(metavar="DOLLARS", help="What its calls may cost in a month of UTC, in US dollars.")
    ] = None,
    database: _Database = None,
    as_json: Json = False,
) -> None:
    """Create a key and print it. It cannot be shown again: only its hash is stored.

        abstractcore keys create alice --model 'openai/*' --expires 90d

        abstractcore keys create batch --requests-per-minute 60 --usd-per-day 5

    Running servers with the same database accept it at once. A server that was started without keys has to be started
    again.
    """
    from .keys import KeyOptions, create

    models, tags = tuple(model or ()), tuple(tag or ())
    options = KeyOptions(models, expires, tags, requests, tokens, parallel, usd_per_day, usd_per_month)
    create(name, options, database, as_json=as_json)


@keys.command("list", epilog=EPILOG)
def list_keys(database: _Database = None, as_json: Json = False) -> None:
    """List the keys: names, first characters, models, limits, expiry and state.

    Examples:

        abstractcore keys list

        abstractcore keys list --json
    """
    from .keys import show_keys

    show_keys(database, as_json=as_json)


@keys.command("revoke", epilog=EPILOG)
def revoke_key(name: _Name, database: _Database = None, as_json: Json = False) -> None:
    """Revoke a key. Running servers refuse it within 5 seconds.

    Examples:

        abstractcore keys revoke alice

        abstractcore keys revoke alice --json
    """
    from .keys import revoke

    revoke(name, database, as_json=as_json)


@keys.command("rotate", epilog=EPILOG)
def rotate_key(
    name: _Name,
    overlap: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long the old secret stays valid, such as 1h; default: not at all."),
    ] = None,
    database: _Database = None,
    as_json: Json = False,
) -> None:
    """Replace the secret of a key, and print the new one. Its name, models and limits stay.

    Examples:

        abstractcore keys rotate alice

        abstractcore keys rotate alice --overlap 1h
    """
    from .keys import rotate

    rotate(name, overlap, database, as_json=as_json)


def dashboard(
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PATH|URL",
            envvar="ABSTRACTCORE_TRACES_STORE",
            help="Where traces are kept: a file, or postgresql://...; default: traces.db in your data folder.",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; default: any free one.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Show traces in a browser: what calls cost, how long they took, and what was said.

        ABSTRACTCORE_TRACES=full python program.py

        abstractcore dashboard

        abstractcore dashboard --store traces.db --port 8090

    It prints an address of this machine, which opens once, and ends with Ctrl-C. No other machine can reach it.
    """
    from .dashboard import serve_dashboard

    serve_dashboard(store, port, quiet=quiet)


def verify(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="The id in x-abstractcore-trace-id.")],
    receipts: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", envvar="ABSTRACTCORE_SERVER_RECEIPTS", help="The folder of the server's setting receipts."
        ),
    ],
    request: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The body that you sent, to compare with the receipt.")
    ] = None,
    reply: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The body that you got, to compare with the receipt.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a receipt of `abstractcore serve`: what was received, sent and changed, byte for byte.

        abstractcore verify 0123456789ab --receipts receipts

        abstractcore verify 0123456789ab --receipts receipts --request body.json

    It ends with exit code 1 if anything differs.
    """
    with reported(as_json=as_json):
        from ..records import ReceiptFolder

        findings = ReceiptFolder(receipts).verify(trace, _content(request, "request"), _content(reply, "reply"))
        code = 0 if all(finding.agrees for finding in findings) else 1
        if as_json:
            found = [asdict(finding) for finding in findings]
            write(json_line({"trace": trace, "findings": found, "exit_code": code}))
        else:
            rows = [(each.what, "agrees" if each.agrees else "DIFFERS", each.note) for each in findings]
            show_table(("", "", ""), rows)
    if code:
        raise typer.Exit(code)


def _content(path: Path | None, option: str) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}", path=option) from None
