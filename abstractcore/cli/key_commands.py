"""The commands of `abstractcore keys` and their arguments. Their code is imported when they are called."""

from __future__ import annotations

from typing import Annotated

import typer

from . import parameters as given
from .exit_codes import EPILOG

keys = typer.Typer(help="The keys by which clients use `abstractcore serve`.", no_args_is_help=True)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The key's name.", show_default=False)]
_Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="ABSTRACTCORE_SERVER_DATABASE",
        help="The database of the server, as in sqlite:////folder/server.db; default: a file in your data folder.",
    ),
]


@keys.command("create", epilog=EPILOG)
def create_key(
    name: _Name,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A model it may use, as in openai/*; default: all. May be repeated."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it ends: 90d, 12h, 30m, or a date as 2027-01-31.")
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
    database: _Database = None,
    as_json: given.Json = False,
) -> None:
    """Make a key, and print it: this once, since only its hash is kept.

        abstractcore keys create alice --model 'openai/*' --expires 90d --requests-per-minute 60

    Servers that run with the same database take it at once. Without any key a server is for this machine only.
    """
    from .access_keys import KeyOptions, create

    options = KeyOptions(tuple(model or ()), expires, tuple(tag or ()), requests, tokens, parallel)
    create(name, options, database, as_json=as_json)


@keys.command("list", epilog=EPILOG)
def list_keys(database: _Database = None, as_json: given.Json = False) -> None:
    """List keys by their names and the beginnings of their secrets, with what they may use."""
    from .access_keys import show_keys

    show_keys(database, as_json=as_json)


@keys.command("revoke", epilog=EPILOG)
def revoke_key(name: _Name, database: _Database = None, as_json: given.Json = False) -> None:
    """Make a key invalid for ever. Servers that run refuse it within seconds."""
    from .access_keys import revoke

    revoke(name, database, as_json=as_json)


@keys.command("rotate", epilog=EPILOG)
def rotate_key(
    name: _Name,
    overlap: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long the earlier secret stays valid, as in 1h; default: not at all."),
    ] = None,
    database: _Database = None,
    as_json: given.Json = False,
) -> None:
    """Give a key a new secret, and print it; its name, models and limits stay."""
    from .access_keys import rotate

    rotate(name, overlap, database, as_json=as_json)
