"""What asking stored questions again has changed: answers, costs, times and checks, as a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from abstractcore.schema.amounts import cost_of, counted, dollars, seconds, tokens
from abstractcore.traces import RERUN_TAG, Rerun, StoredQuestion

from ..reporting import json_line
from ..screen import note, show_table, write

if TYPE_CHECKING:
    from abstractcore import Verification

_COLUMNS: Final = ("question", "answer", "cost", "was", "took", "was", "out", "was", "checks")


def _checks(result: Rerun) -> str:
    """Returns whether an answer has the form that the call had asked for, and tool calls without a result."""
    found: list[str] = []
    if result.is_valid is not None:
        found.append("valid" if result.is_valid else "not of its schema")
    was, now = result.question.verification, None if result.reply is None else result.verification
    if was is not None and now is not None:
        found.append(f"{_verified(now)} (was {_verified(was)})")
    if result.unknown_results:
        found.append(f"{counted(result.unknown_results, 'tool call')} without a stored result")
    if result.error is not None:
        found.append(f"{type(result.error).__name__}: {result.error.message}")
    return ", ".join(found)


def _verified(verification: Verification) -> str:
    return f"{len(verification.agreed)} agreed, {len(verification.doubtful)} doubtful"


def show_reruns(reruns: Sequence[Rerun], found: Sequence[StoredQuestion], *, is_stopped: bool, as_json: bool) -> None:
    """Prints a table of what asking again has changed; questions that were left out have a reason in JSON."""
    missing = {question.id: question.missing for question in found if question.missing is not None}
    if as_json:
        rows = [_facts(each) for each in reruns]
        code = int(is_stopped or any(each.error is not None for each in reruns))
        write(json_line({"reruns": rows, "left_out": missing, "stopped": is_stopped, "exit_code": code}))
        return
    show_table(_COLUMNS, [_cells(each) for each in reruns])
    if is_stopped:
        note(f"Stopped at --max-usd: {len(reruns)} of {counted(len(found) - len(missing), 'question')} were asked.")
    equal = sum(each.verdict == "equal" for each in reruns)
    spent = sum((each.cost or Decimal(0) for each in reruns), Decimal(0))
    unknown = sum(each.cost is None for each in reruns)
    rest = f", {counted(unknown, 'question')} of unknown cost" if unknown else ""
    note(f"{equal} of {counted(len(reruns), 'answer')} equal; spent: {dollars(spent)} known{rest}.")
    note(f"Stored with the tag {RERUN_TAG}: abstractcore traces list --tag {RERUN_TAG}=ID")


def _cells(each: Rerun) -> tuple[str, ...]:
    was_known, was_estimated = _cost_before(each.question)
    return (
        each.question.id,
        each.verdict,
        cost_of(each.cost, None),
        cost_of(was_known, was_estimated),
        seconds(each.seconds),
        seconds(each.question.seconds),
        tokens(each.output_tokens),
        tokens(sum(record.usage.output or 0 for record in each.question.calls)),
        _checks(each),
    )


def _cost_before(question: StoredQuestion) -> tuple[Decimal | None, Decimal | None]:
    """Returns what the calls of a question had cost: known and estimated; both None if one is unknown."""
    costs = question.costs
    return (None, None) if costs.unknown else (costs.known, costs.estimated or None)


def _facts(each: Rerun) -> dict[str, Any]:
    was_known, was_estimated = _cost_before(each.question)
    calls = each.question.calls
    return {
        "rerun_of": each.question.id,
        "trace_id": each.trace_id,
        "answer": each.verdict,
        "cost": None if each.cost is None else f"{each.cost:f}",
        "cost_before": None if was_known is None else f"{was_known:f}",
        "estimated_cost_before": None if was_estimated is None else f"{was_estimated:f}",
        "seconds": each.seconds,
        "seconds_before": each.question.seconds,
        "input_tokens": each.input_tokens,
        "input_tokens_before": sum(record.usage.input or 0 for record in calls),
        "output_tokens": each.output_tokens,
        "output_tokens_before": sum(record.usage.output or 0 for record in calls),
        "checks": _checks(each),
    }
