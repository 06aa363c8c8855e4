"""The commands of `abstractcore models` and `abstractcore catalogue`, and their arguments.

Their code is imported when they are called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from . import completing
from . import parameters as given
from .exit_codes import EPILOG

models = typer.Typer(
    help="What models can do and cost; the weights of those that run on this machine.", no_args_is_help=True
)
catalogue = typer.Typer(help="The facts about models that this program goes by.", no_args_is_help=True)


@models.command("list", epilog=EPILOG)
def list_models(
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider", "-p", help="A provider, which is asked what it offers.", autocompletion=completing.providers
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="List what the catalogue has, without a request.")] = False,
    base_url: given.BaseUrl = None,
    timeout: given.Timeout = None,
    as_json: given.Json = False,
) -> None:
    """List the models that a provider offers; without one, or with `local`, those that are stored on this machine.

    Examples:

        abstractcore models list

        abstractcore models list -p openai --offline
    """
    if provider in (None, "local"):
        from .model_lists import show_stored

        show_stored(as_json=as_json)
        return
    from .model_lists import show_models

    show_models(provider, base_url, timeout, offline=offline, as_json=as_json)


@models.command("info", epilog=EPILOG)
def model_info(
    model: Annotated[
        str, typer.Argument(help="MODEL or PROVIDER/MODEL.", show_default=False, autocompletion=completing.models)
    ],
    provider: Annotated[
        str | None, typer.Option("--provider", "-p", help="Only this provider.", autocompletion=completing.providers)
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Show what a model can do and costs at each provider, with the source of these facts.

    Examples:

        abstractcore models info gpt-5.4-mini

        abstractcore models info google/gemini-3.8-flash --json
    """
    from .model_info import show_info

    show_info(model, provider, as_json=as_json)


@models.command("search", epilog=EPILOG)
def search_models(
    name: Annotated[str | None, typer.Argument(help="A part of the model's name.", show_default=False)] = None,
    vision: Annotated[bool, typer.Option("--vision", help="It sees images.")] = False,
    audio: Annotated[bool, typer.Option("--audio", help="It hears audio.")] = False,
    video: Annotated[bool, typer.Option("--video", help="It watches videos.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="It reads PDF files.")] = False,
    tools: Annotated[bool, typer.Option("--tools", help="It calls tools.")] = False,
    thinking: Annotated[bool, typer.Option("--thinking", help="It can think.")] = False,
    structured: Annotated[bool, typer.Option("--structured", help="It answers by a JSON Schema.")] = False,
    context: Annotated[str | None, typer.Option(metavar="TOKENS", help="At least this context, as in 200k.")] = None,
    max_price: Annotated[
        str | None, typer.Option(metavar="DOLLARS", help="At most this for a million tokens of input.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", "-p", help="Only this provider.", autocompletion=completing.providers)
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Find models in the catalogue by what they can do and cost.

    Examples:

        abstractcore models search --vision --tools --max-price 0.5

        abstractcore models search qwen --context 200k
    """
    from .model_search import Search, show_search

    kinds = {"image": vision, "audio": audio, "video": video, "pdf": pdf}
    files = tuple(kind for kind, wanted in kinds.items() if wanted)
    show_search(Search(provider, files, tools, thinking, structured, context, max_price, name), as_json=as_json)


@models.command("pull", epilog=EPILOG)
def pull_model(name: given.ModelName, as_json: given.Json = False) -> None:
    """Download a model, unless it is stored already.

    Examples:

        abstractcore models pull whisper-base

        abstractcore models pull hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF
    """
    from .model_lists import pull

    pull(name, as_json=as_json)


@models.command("remove", epilog=EPILOG)
def remove_model(name: given.ModelName, as_json: given.Json = False) -> None:
    """Delete a model from this machine.

    Examples:

        abstractcore models remove whisper-base

        abstractcore models remove hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF
    """
    from .model_lists import remove

    remove(name, as_json=as_json)


@catalogue.command("update", epilog=EPILOG)
def update_catalogue(
    source: Annotated[
        str | None,
        typer.Argument(help="A wheel, a zip file or a folder, or its URL; default: the newest wheel of abstractcore."),
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Fetch later facts about models into your data folder, without an upgrade of the program.

    The newest wheel is downloaded with pip or uv, and with their settings. Nothing of it is executed, and every file is
    checked before any is replaced.

        abstractcore catalogue update

        abstractcore catalogue update ./abstractcore.whl --json
    """
    from .catalogue_updates import update

    update(source, as_json=as_json)
