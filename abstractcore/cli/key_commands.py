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
        help="The database of the server, such as sqlite:////folder/server.db; default: a file in your data folder.",
    ),
]


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
    database: _Database = None,
    as_json: given.Json = False,
) -> None:
    """Create a key and print it. It cannot be shown again: only its hash is stored.

        abstractcore keys create alice --model 'openai/*' --expires 90d --requests-per-minute 60

    Running servers with the same database accept it at once. A server that was started without keys has to be started
    again.
    """
    from .access_keys import KeyOptions, create

    options = KeyOptions(tuple(model or ()), expires, tuple(tag or ()), requests, tokens, parallel)
    create(name, options, database, as_json=as_json)


@keys.command("list", epilog=EPILOG)
def list_keys(database: _Database = None, as_json: given.Json = False) -> None:
    """List the keys: names, first characters, models, limits, expiry and state."""
    from .access_keys import show_keys

    show_keys(database, as_json=as_json)


@keys.command("revoke", epilog=EPILOG)
def revoke_key(name: _Name, database: _Database = None, as_json: given.Json = False) -> None:
    """Revoke a key. Running servers refuse it within 5 seconds."""
    from .access_keys import revoke

    revoke(name, database, as_json=as_json)


@keys.command("rotate", epilog=EPILOG)
def rotate_key(
    name: _Name,
    overlap: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long the old secret stays valid, such as 1h; default: not at all."),
    ] = None,
    database: _Database = None,
    as_json: given.Json = False,
) -> None:
    """Replace the secret of a key, and print the new one. Its name, models and limits stay."""
    from .access_keys import rotate

    rotate(name, overlap, database, as_json=as_json)
