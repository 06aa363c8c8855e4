"""`abstractcore media`: how files would be sent to a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import typer

import abstractcore
from abstractcore.schema.amounts import dollars

from .exit_codes import exit_code
from .file_losses import ReadFile, losses, read_file
from .plugins import ConnectionArguments, connected
from .reporting import plan_json, print_error, reported
from .screen import note, show_table, write

_HEADERS = ("file", "type", "size", "sent", "tokens", "lost", "reason")


def show_plan(
    files: Sequence[str],
    question: str | None,
    provider: str | None,
    model: str | None,
    base_url: str | None,
    *,
    as_json: bool,
) -> None:
    """Prints the decision for each file, with what is lost of it; raises `typer.Exit` if a call would be refused."""
    connection = ConnectionArguments(provider, model, base_url, quiet=True)
    with reported(as_json=as_json):
        plan, refused, read = _usable(connection, question, files)
        warnings = (*plan.warnings, *(warning for each in read for warning in each.warnings))
        code = exit_code(refused[0]) if refused else 0
        if as_json:
            given = replace(plan, media=tuple(each.decision for each in read), warnings=warnings)
            unknown = [(each.decision.source, each.not_run) for each in read if each.not_run]
            write(plan_json(given, unknown, refused, code))
        else:
            show_table(_HEADERS, [_row(each) for each in read])
            for error in refused:
                print_error(error)
            note(_estimate(plan))
            for warning in warnings:
                note(f"warning: {warning.message}")
            if provider is None and model is not None and _is_elsewhere(model):
                note(
                    f"warning: without a provider {model} stands for a model on this machine, where none has that "
                    f"name. Name its provider: --provider PROVIDER/{model}; `abstractcore models search {model}` lists "
                    "them."
                )
        if refused:
            raise typer.Exit(code)


def _is_elsewhere(model: str) -> bool:
    """Returns whether a name is none of a model on this machine: of weights, of a file, or with a provider."""
    from abstractcore.stores.models import PACKAGED_MODELS

    return not (
        ":" in model or "/" in model or model.endswith(".gguf") or model in {each.name for each in PACKAGED_MODELS}
    )


def _usable(
    connection: ConnectionArguments, question: str | None, files: Sequence[str]
) -> tuple[abstractcore.Plan, Sequence[abstractcore.MediaError], Sequence[ReadFile]]:
    """Returns the plan for the files that can be used, the errors of the others, and the decisions with their losses.

    Raises the error of a file that is the only one.
    """
    usable: list[str] = []
    read: list[ReadFile] = []
    refused: list[abstractcore.MediaError] = []
    for file in files:
        try:
            (decision,) = _plan(connection, question, [file]).media
            read.append(read_file(file, decision))
            usable.append(file)
        except abstractcore.MediaError as error:
            if len(files) == 1:
                raise
            refused.append(error)
    plan = _plan(connection, question, usable)
    decisions = zip(plan.media, read, strict=True)
    return plan, refused, [replace(each, decision=replace(one, lost=each.decision.lost)) for one, each in decisions]


def _plan(connection: ConnectionArguments, question: str | None, files: Sequence[str]) -> abstractcore.Plan:
    try:
        return _plan_with(connection, question, files)
    except abstractcore.AuthenticationError:  # no key is set: nothing is sent, so that any will do
        return _plan_with(connection, question, files, api_key="unused")


def _plan_with(
    connection: ConnectionArguments, question: str | None, files: Sequence[str], api_key: str | None = None
) -> abstractcore.Plan:
    with connected(connection, api_key=api_key) as llm:
        return llm.plan(question or "-", media=files)


def _estimate(plan: abstractcore.Plan) -> str:
    """Returns about how many tokens the call sends, and what it may cost."""
    text, cost = f"about {plan.estimated_input_tokens or 0:,} tokens of input", plan.estimated_cost
    if cost is None:
        return text
    most = "" if cost.high is None else f" to {dollars(cost.high)}"
    return f"{text}, {dollars(cost.low)}{most} with the answer"


def _row(read: ReadFile) -> tuple[str, ...]:
    decision = read.decision
    tokens = "?" if decision.tokens is None else f"{decision.tokens:,}"
    sent = decision.route if decision.fallback is None else f"{decision.route}: {decision.fallback}"
    size = ", ".join(_sizes(decision.facts)) or "?"
    return decision.source, decision.type, size, sent, tokens, losses(read), decision.reason


def _sizes(facts: abstractcore.MediaFacts | None) -> Iterator[str]:
    """Yields the sizes that were measured: pixels, frames, pages and seconds."""
    if facts is None:
        return
    if facts.width is not None and facts.height is not None:
        yield f"{facts.width} x {facts.height}"
    if facts.frames is not None and facts.frames > 1:
        yield f"{facts.frames} frames"
    if facts.pages is not None:
        yield f"{facts.pages} page{'' if facts.pages == 1 else 's'}"
    if facts.seconds is not None:
        yield f"{facts.seconds:,.1f} s"
