"""The commands of `abstractcore config` and their arguments. Their code is imported when they are called."""

from __future__ import annotations

import typer

from . import parameters as given
from .parameters import EPILOG

config = typer.Typer(help="The configuration of all programs: config.toml.", no_args_is_help=True)


@config.command("show", epilog=EPILOG)
def show(as_json: given.Json = False) -> None:
    """Show each value that is set, and where: in a variable of the environment, or in a line of the file.

    Examples:

        abstractcore config show

        ABSTRACTCORE_CONFIG=other.toml abstractcore config show --json
    """
    from .configuring import show_settings

    show_settings(as_json=as_json)


@config.command("check", epilog=EPILOG)
def check(as_json: given.Json = False) -> None:
    """Check the file: everything that is wrong with it, with line and column. Nothing is sent.

    Examples:

        abstractcore config check

        abstractcore config check --json
    """
    from .configuring import check

    check(as_json=as_json)


@config.command("edit", epilog=EPILOG)
def edit() -> None:
    """Open the file in your editor, which VISUAL or EDITOR names, and check it afterwards.

    Examples:

        abstractcore config edit

        EDITOR=nano abstractcore config edit
    """
    from .configuring import edit

    edit()


@config.command("path", epilog=EPILOG)
def path(as_json: given.Json = False) -> None:
    """Print the path of the file: that of ABSTRACTCORE_CONFIG, or config.toml in your configuration folder.

    Examples:

        abstractcore config path

        abstractcore config path --json
    """
    from .configuring import show_path

    show_path(as_json=as_json)
