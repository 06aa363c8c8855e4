"""The commands of `abstractcore config` and their arguments. Their code is imported when they are called."""

from __future__ import annotations

from typing import Annotated

import typer

from . import parameters as given
from .exit_codes import EPILOG

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


@config.command("set", epilog=EPILOG)
def set_value(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="model, embedding-model, or a name such as llm.fast.model.", show_default=False
        ),
    ],
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="A text, a number, true, false or a list.", show_default=False)
    ],
    as_json: given.Json = False,
) -> None:
    """Set a value in the file, whose other lines stay as they are. It is checked before.

    "model" is the one of `ask`, `chat` and programs that name none, "embedding-model" that of `embed` and `index add`.

        abstractcore config set model openai/gpt-5.4-mini

        abstractcore config set providers.ollama.base_url http://gpu-box:11434
    """
    from .setting_values import set_value

    set_value(name, value, as_json=as_json)


@config.command("unset", epilog=EPILOG)
def unset_value(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name as `config set` takes it.", show_default=False)],
    as_json: given.Json = False,
) -> None:
    """Remove a value from the file.

    A table that is empty then is removed too.

        abstractcore config unset model

        abstractcore config unset llm.fast.options.temperature
    """
    from .setting_values import unset_value

    unset_value(name, as_json=as_json)


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
