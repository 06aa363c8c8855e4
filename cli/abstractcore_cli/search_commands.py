"""The arguments of `abstractcore embed`, `abstractcore index ...` and `abstractcore search`.

What a command does is imported when it is called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from . import completing
from .exit_codes import EPILOG
from .parameters import BaseUrl, Json, Model, Provider, Quiet, Tag, Timeout

index = typer.Typer(help="An index of files, for abstractcore search.", no_args_is_help=True)

_Path = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="PATH",
        envvar="ABSTRACTCORE_INDEX",
        help="The file of the index; default: index.db in your data folder.",
    ),
]
_Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="NAME=VALUE", help="A tag of what is added; may be repeated.")
]
_Provider = Annotated[
    str | None,
    typer.Option(
        "--provider",
        "-p",
        help="PROVIDER or PROVIDER/MODEL; default: that of the index, and of a new one the embedded model.",
        autocompletion=completing.providers,
    ),
]
_Where = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="NAME=VALUE", help="Only documents with this tag; may be repeated."),
]


@index.command("add", epilog=EPILOG)
def add(
    paths: Annotated[list[str], typer.Argument(metavar="FOLDER|FILE...", show_default=False)],
    tag: _Tags = None,
    provider: _Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    index: _Path = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Add folders and files: documents, tables, recordings, videos, and pictures with text.

    What has not changed is left as it is, and files of a folder that are gone are removed. Files that cannot be read
    are listed with the reason. An interrupted command goes on when it is repeated.

        abstractcore index add ~/Documents/contracts

        abstractcore index add report.pdf --tag year=2026
    """
    from .indexing import ModelArguments, add_paths

    add_paths(paths, tag or [], ModelArguments(provider, model, base_url, None, quiet), index, as_json=as_json)


@index.command("list", epilog=EPILOG)
def list_documents(index: _Path = None, as_json: Json = False) -> None:
    """List the documents of the index, with those that could not be read and the reason.

    Examples:

        abstractcore index list

        abstractcore index list --index team.db --json
    """
    from .indexing import show_documents

    show_documents(index, as_json=as_json)


@index.command("remove", epilog=EPILOG)
def remove(
    paths: Annotated[list[str], typer.Argument(metavar="FILE...", show_default=False)],
    index: _Path = None,
    as_json: Json = False,
) -> None:
    """Remove files from the index; the files themselves stay.

    Examples:

        abstractcore index remove report.pdf

        abstractcore index remove contracts/*.pdf --index team.db
    """
    from .indexing import remove_documents

    remove_documents(paths, index, as_json=as_json)


@index.command("rebuild", epilog=EPILOG)
def rebuild(
    provider: _Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    index: _Path = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Embed all documents anew, with another model. Files are not read again.

    Examples:

        abstractcore index rebuild --model openai/text-embedding-3-small

        abstractcore index rebuild --index team.db
    """
    from .indexing import ModelArguments, rebuild_index

    rebuild_index(ModelArguments(provider, model, base_url, None, quiet), index, as_json=as_json)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, or words.", show_default=False)],
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, max=1000, help="The most hits.")] = 5,
    tag: _Where = None,
    words: Annotated[bool, typer.Option("--words", help="Search by words alone, without a model.")] = False,
    provider: _Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    index: _Path = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Search the files of an index by meaning and by words; print where each hit is, with a line of its text.

        abstractcore search "when does the contract end"

        abstractcore search invoice --words --limit 20 --tag year=2026

    The model is that with which the files were added. With --json, each hit has its whole text.
    """
    from .indexing import ModelArguments, search_index

    arguments = ModelArguments(provider, model, base_url, timeout, quiet)
    search_index(query, limit, tag or [], arguments, index, words=words, as_json=as_json)


def embed(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Text files; - is stdin.", show_default=False)],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="A name that ends with .npz, .parquet or .jsonl.")
    ],
    lines: Annotated[bool, typer.Option("--lines", help="Embed each line; otherwise each file.")] = False,
    query: Annotated[bool, typer.Option("--query", help="The texts are queries, not documents.")] = False,
    dimensions: Annotated[int | None, typer.Option(min=1, help="The length of the vectors.")] = None,
    provider: Provider = None,
    model: Model = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    tag: Tag = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Embed files, or each of their lines, and write the vectors with their texts to a file.

    Examples:

        abstractcore embed questions.txt --lines --query -o questions.npz

        abstractcore embed *.md -o pages.jsonl -m openai/text-embedding-3-small
    """
    from .embedding import EmbedArguments, embed_files

    embed_files(
        EmbedArguments(
            tuple(files), output, lines, query, dimensions, provider, model, base_url, timeout, quiet, tuple(tag or ())
        ),
        as_json=as_json,
    )
