"""`abstractcore verify`: computes the digests of a receipt again, and prints what agrees."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

import abstractcore

from .json_output import receipt_json
from .reporting import reported
from .screen import show_table, write


def check(trace: str, receipts: Path, request: Path | None, reply: Path | None, *, as_json: bool) -> None:
    """Prints what was found; ends with exit code 1 if anything differs."""
    with reported(as_json=as_json):
        from abstractcore_server.receipts import ReceiptFolder

        findings = ReceiptFolder(receipts).verify(trace, _content(request, "request"), _content(reply, "reply"))
        code = 0 if all(finding.agrees for finding in findings) else 1
        if as_json:
            write(receipt_json({"trace": trace, "findings": [asdict(finding) for finding in findings]}, code))
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
        raise abstractcore.InvalidInputError(f"{path} cannot be read: {error.strerror}", path=option) from None
