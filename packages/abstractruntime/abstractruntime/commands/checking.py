"""`abstractcore runs verify`, `export` and `prune`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from abstractcore.errors import InvalidInputError
from abstractcore.registry import missing_path_hint
from abstractcore_cli.toolkit import json_line, reported, show_table, write

from ..exports import verify_export
from ..ledger_checks import LedgerReport
from ..verification import verify_run
from .stores import open_store, seconds_of


def verify(what: Sequence[str], store: str, *, as_json: bool) -> None:
    """Checks runs and exports; exits with 1 if any is wrong."""
    with reported(as_json=as_json):
        found = [*_verified(what, store)]
        code = 0 if all(each.ok for each in found) else 1
        if as_json:
            data = [
                {
                    "run": each.run,
                    "records": each.records,
                    "head": each.head,
                    "problems": [{"seq": problem.seq, "message": problem.message} for problem in each.problems],
                }
                for each in found
            ]
            write(json_line({"runs": data, "exit_code": code}))
        else:
            rows = [
                (each.run, f"{each.records} records", "; ".join(map(str, each.problems)) or "agrees", each.head or "")
                for each in found
            ]
            show_table(("run", "", "", "head"), rows)
    if code:
        raise typer.Exit(code)


def _verified(what: Sequence[str], store: str) -> Iterator[LedgerReport]:
    files = [each for each in what if each.endswith(".zip")]
    for file in files:
        yield verify_export(file)
    if files and len(files) == len(what):
        return
    with open_store(store) as runtime:
        if not what:
            yield from runtime.verify()
        for run in what:
            if run not in files:
                yield verify_run(runtime.store, run)


def export(run: str, output: Path | None, key: Path | None, store: str, *, as_json: bool) -> None:
    """Writes a run as a file."""
    with reported(as_json=as_json):
        path = output or Path(f"{run.replace('/', '-')}.zip")
        try:
            private_key = None if key is None else key.read_bytes()
        except OSError as error:
            problem = f"{key} cannot be read: {error.strerror}"
            raise InvalidInputError(problem, path="--key", hint=missing_path_hint(str(key))) from None
        with open_store(store) as runtime:
            found = runtime.run(run).export(path, private_key=private_key)
        if as_json:
            data = {"run": run, "file": str(path), "records": found.records, "head": found.head, "exit_code": 0}
            write(json_line(data))
        else:
            write(f"{path}\n")


def prune(older_than: str, store: str, *, dry_run: bool, as_json: bool) -> None:
    """Deletes runs that ended long ago."""
    with reported(as_json=as_json):
        seconds = seconds_of(older_than, "--older-than")
        with open_store(store) as runtime:
            ids = runtime.prune(seconds, dry_run=dry_run)
        if as_json:
            write(json_line({"runs": ids, "deleted": not dry_run, "exit_code": 0}))
        else:
            show_table((), [(id,) for id in ids])
