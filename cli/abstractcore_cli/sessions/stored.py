"""`abstractcore sessions list`, `show`, `export` and `remove`: stored sessions, without a model."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

import abstractcore
from abstractcore.schema import to_data, visible_json
from abstractcore.schema.amounts import cost_of, moment, sums, tokens
from abstractcore.sessions import SessionSummary, remove_session

from ..reporting import error_facts, json_line, reported
from ..screen import ask_line, note, show_lines, show_table, write
from ..tracing.conversations import Line, message_lines
from .names import existing_path, name_of, opened_here, sessions_folder, stored_paths


def show_list(*, as_json: bool) -> None:
    """Prints the named sessions, the one that was used last first; those that cannot be read at the end."""
    with reported(as_json=as_json):
        found: list[SessionSummary] = []
        unreadable: list[tuple[Path, abstractcore.SessionError]] = []
        for path in stored_paths():
            try:
                found.append(SessionSummary.read(path))
            except abstractcore.SessionError as error:
                unreadable.append((path, error))
        found.sort(key=lambda each: -each.last_used)
        if as_json:
            rows = [_facts(each) for each in found]
            errors = [
                {"name": name_of(path), "path": str(path), "error": error_facts(each)} for path, each in unreadable
            ]
            write(json_line({"folder": str(sessions_folder()), "sessions": [*rows, *errors], "exit_code": 0}))
            return
        if not (found or unreadable):
            note("There are no sessions: `abstractcore chat --session NAME` begins one.")
            return
        rows = [*map(_cells, found), *((name_of(path), "-", "-", "-", "-", "cannot be read") for path, _ in unreadable)]
        show_table(("session", "model", "exchanges", "tokens", "cost", "last used"), rows, {"model": 12, "tokens": 0})
        for _, error in unreadable:
            note(error.message)


def _cells(summary: SessionSummary) -> tuple[str, ...]:
    return (
        name_of(summary.path),
        "-" if summary.model is None else f"{summary.provider}/{summary.model}",
        f"{summary.exchanges:,}",
        tokens(summary.usage.total),
        sums(summary.cost),
        moment(summary.last_used),
    )


def _facts(summary: SessionSummary) -> dict[str, Any]:
    return {
        "name": name_of(summary.path),
        "path": str(summary.path),
        "id": summary.id,
        "provider": summary.provider,
        "model": summary.model,
        "exchanges": summary.exchanges,
        "input_tokens": summary.usage.input,
        "output_tokens": summary.usage.output,
        "cached_tokens": summary.usage.cached,
        "cost": f"{summary.cost.known:f}",
        "estimated_cost": f"{summary.cost.estimated:f}",
        "saved_cost": f"{summary.cost.saved:f}",
        "calls_of_unknown_cost": summary.cost.unknown,
        "last_used": summary.last_used,
    }


def show_session(name: str, *, as_json: bool) -> None:
    """Prints a conversation, or its document."""
    with reported(as_json=as_json), _read(name) as session:
        if as_json:
            write(json_line({"name": name, "session": session.document(), "exit_code": 0}))
        else:
            show_lines(_lines(session))


def _lines(session: abstractcore.Session) -> Iterator[Line]:
    """Yields the lines of all exchanges, with what each has used."""
    if session.system_prompt is not None:
        yield from message_lines(abstractcore.Message.system(session.system_prompt))
    for exchange in session.exchanges:
        for message in exchange.messages:
            yield from message_lines(message)
        if exchange.partial:
            yield [("(not finished)", "yellow")]
        if exchange.calls:
            usage, cost = exchange.usage, cost_of(exchange.cost, exchange.estimated_cost)
            used = f"{tokens(usage.input)} tokens in, {tokens(usage.output)} out, {cost}"
            yield [(f"{exchange.provider}/{exchange.model}: {used}", "dim")]
    for repair in session.notes:
        yield [(f"repaired: {repair.message}", "yellow")]


def export_session(name: str, path: str | None, *, as_openai: bool, as_json: bool) -> None:
    """Writes a session as JSON, to a new file or to stdout."""
    with reported(as_json=as_json), _read(name) as session:
        messages = session.to_openai() if as_openai else None
        document = session.document() if messages is None else messages
        warnings = () if messages is None else messages.warnings
        if path is not None:
            _write_new(path, _json(document))
        if as_json:
            content = {"messages" if as_openai else "session": document} if path is None else {"file": path}
            write(json_line({**content, "warnings": [to_data(each) for each in warnings], "exit_code": 0}))
            return
        write(_json(document) if path is None else f"{path}\n")
        for warning in warnings:
            note(f"warning: {warning.message}")


def _json(document: object) -> str:
    return visible_json(json.dumps(document, ensure_ascii=False)) + "\n"


def _write_new(path: str, text: str) -> None:
    """Writes a file that does not exist yet, which only its owner may read."""
    try:
        with open(path, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(text)
    except FileExistsError:
        raise abstractcore.InvalidInputError(f"{path} exists already", path="PATH", hint="Name another file.") from None
    except OSError as error:
        raise abstractcore.InvalidInputError(
            f"{path} cannot be written: {error.strerror or error}", path="PATH"
        ) from None


def remove_stored(name: str, *, yes: bool, as_json: bool) -> None:
    """Removes a session, once the user has agreed."""
    with reported(as_json=as_json):
        path = existing_path(name)
        if not yes and not _agreed(name_of(path), can_ask=not as_json and sys.stdin.isatty()):
            note(f"{name_of(path)} was not removed")
            raise typer.Exit(1)
        with opened_here(path):
            remove_session(path)
        if as_json:
            write(json_line({"removed": str(path), "exit_code": 0}))
        else:
            note(f"removed {name_of(path)}")


def _agreed(name: str, *, can_ask: bool) -> bool:
    if not can_ask:
        raise abstractcore.InvalidInputError(f"{name} is not removed without asking", hint="Add --yes to remove it.")
    return (ask_line(f"Remove {name} with all that was said? [y]es, [n]o: ") or "").strip().lower() in ("y", "yes")


@contextmanager
def _read(name: str) -> Generator[abstractcore.Session]:
    """Yields a stored session, to be read. No model is asked: any one will do."""
    nobody = abstractcore.create_llm("scripted", replies=[])
    with abstractcore.Session.open(existing_path(name), nobody, read_only=True) as session:
        yield session
