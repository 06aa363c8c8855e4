"""The commands of `abstractcore sessions` and their arguments. Their code is imported when they are called."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import completing
from .. import parameters as given
from ..exit_codes import EPILOG

sessions = typer.Typer(
    help="Conversations of `abstractcore chat --session NAME`: listed, shown, exported and removed.",
    no_args_is_help=True,
)

_Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The name of a session, or a path, as in ./talk.session.",
        show_default=False,
        autocompletion=completing.sessions,
    ),
]


@sessions.command("list", epilog=EPILOG)
def list_sessions(as_json: given.Json = False) -> None:
    """List the sessions.

    The one that was used last is the first, each with its model, exchanges, tokens and cost. They are files in the
    folder `sessions` of your data folder.

        abstractcore sessions list

        abstractcore sessions list --json
    """
    from .stored import show_list

    show_list(as_json=as_json)


@sessions.command("show", epilog=EPILOG)
def show(name: _Name, as_json: given.Json = False) -> None:
    """Show a conversation.

    All that was said is shown, also what the model is no longer given in full.

        abstractcore sessions show trip | less

        abstractcore sessions show ./talk.session --json
    """
    from .stored import show_session

    show_session(name, as_json=as_json)


@sessions.command("export", epilog=EPILOG)
def export(
    name: _Name,
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A file that does not exist yet; default: stdout.")
    ] = None,
    openai: Annotated[
        bool, typer.Option("--openai", help="As a list of messages in the format of OpenAI's Chat Completions.")
    ] = False,
    as_json: given.Json = False,
) -> None:
    """Write a session as JSON.

    The content of its files is in it. Programs read it with Session.load(path, llm).

        abstractcore sessions export trip trip.json

        abstractcore sessions export trip --openai | jq length
    """
    from .stored import export_session

    export_session(name, path, as_openai=openai, as_json=as_json)


@sessions.command("remove", epilog=EPILOG)
def remove(
    name: _Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove it without asking.")] = False,
    as_json: given.Json = False,
) -> None:
    """Remove a session with its files.

    You are asked before, unless --yes is given. A session that is open is not removed.

        abstractcore sessions remove trip

        abstractcore sessions remove trip --yes
    """
    from .stored import remove_stored

    remove_stored(name, yes=yes, as_json=as_json)
