"""The command `abstractcore verify` and its arguments. Its code is imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import parameters as given


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
    as_json: given.Json = False,
) -> None:
    """Check a receipt of `abstractcore serve`: what was received, sent and changed, byte for byte.

        abstractcore verify 0123456789abcdef0123456789abcdef --receipts receipts --request body.json

    It ends with exit code 1 if anything differs.
    """
    from .receipt_checks import check

    check(trace, receipts, request, reply, as_json=as_json)
