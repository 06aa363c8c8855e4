"""The output of `--json`: one object, with `error` if the command failed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import abstractcore

from .screen import escaped
from .wording import rewritten

if TYPE_CHECKING:
    from ..registry import PluginReport


def response_json(response: abstractcore.GenerateResponse[Any]) -> str:
    """Returns a response as JSON."""
    data = json.loads(abstractcore.to_json(response))
    return json_line(
        {
            "content": response.content,
            "finish_reason": response.finish_reason,
            "provider": response.provider,
            "model": response.model,
            "usage": asdict(response.usage) | {"billing": data["usage"].get("billing")},
            "media": data["media"],
            "tool_steps": [_step(step) for step in response.tool_steps],
            "loop_status": response.loop.status if response.loop is not None else None,
            "warnings": data["warnings"],
            "cost": data["cost"],
            "cost_source": response.cost_source,
            "cost_reason": response.cost_reason,
            "price_rows": response.price_rows,
            "seconds": response.seconds,
            "trace_id": response.trace_id,
        }
    )


def media_json(result: abstractcore.MediaResult[Any], files: Sequence[Path]) -> str:
    """Returns the result of a backend, and its files, as JSON."""
    return json_line(
        {
            "files": [str(file) for file in files],
            "media_types": [part.blob.media_type for part in result.parts],
            **_made_facts(result),
            "metadata": copy.deepcopy(result.metadata),
            **_verified(result),
            "exit_code": 0,
        }
    )


def transcript_json(result: abstractcore.TranscriptResult) -> str:
    """Returns the transcript of a recording as JSON, with the times and the facts of the backend."""
    from ..schema import to_data

    transcript = to_data(result.transcript)
    return json_line({"text": result.text, "transcript": transcript, **_made_facts(result), "exit_code": 0})


def voices_json(voices: Sequence[Mapping[str, object]]) -> str:
    """Returns the voices of a backend as JSON."""
    return json_line({"voices": [copy.deepcopy(voice) for voice in voices], "exit_code": 0})


def _made_facts(result: abstractcore.MediaResult[Any] | abstractcore.TranscriptResult) -> dict[str, object]:
    """Returns the facts about the call of a backend."""
    from ..schema import to_data

    return {
        "backend": result.backend,
        "model": result.model,
        "warnings": [to_data(each) for each in result.warnings],
        "cost": None if result.cost is None else str(result.cost),
        "cost_reason": result.cost_reason,
        "seconds": result.seconds,
        "trace_id": result.trace_id,
    }


def _verified(result: abstractcore.MediaResult[Any]) -> dict[str, object]:
    from ..schema import to_data

    found = result.verification
    return {} if found is None else {"verification": to_data(found), "word_error_rate": found.word_error_rate}


def _step(step: abstractcore.ToolStep) -> dict[str, object]:
    """Returns a tool call with the text of its result. `data` is the tool's own, where it is JSON."""
    return {
        "round": step.round,
        "id": step.call.id,
        "name": step.call.name,
        "arguments": step.call.arguments if step.call.arguments is not None else step.call.arguments_text,
        "outcome": step.outcome,
        "result": step.result.as_text,
        "data": json.loads(abstractcore.to_json(step)).get("data"),
        "seconds": step.seconds,
    }


def step_json(step: abstractcore.ToolStep) -> str:
    """Returns a tool call with its result as JSON."""
    return json_line(_step(step))


def tools_json(tools: Iterable[tuple[str, abstractcore.ToolSpec]]) -> str:
    """Returns tools, each with the name of its server, as JSON."""
    found = [(server, json.loads(abstractcore.to_json(tool))) for server, tool in tools]
    return json_line({"tools": [{"server": server, **_plain(data)} for server, data in found]})


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in ("schema_version", "type")}


def plan_json(plan: abstractcore.Plan) -> str:
    """Returns the decisions for files, warnings, and estimates of the tokens and the cost, as JSON."""
    from ..schema import to_data

    media, warnings = ([to_data(each) for each in found] for found in (plan.media, plan.warnings))
    return json_line(
        {
            "media": media,
            "warnings": warnings,
            "estimated_input_tokens": plan.estimated_input_tokens,
            "estimated_cost": plan.estimated_cost and to_data(plan.estimated_cost),
            "exit_code": 0,
        }
    )


def error_json(error: abstractcore.AbstractCoreError, code: int) -> str:
    """Returns an error as JSON; `partial` is the text of the answer so far, `tool_steps` the tool calls before it."""
    loop: abstractcore.ToolLoop | None = getattr(error, "loop", None)
    return json_line(
        {
            "error": {
                "type": type(error).__name__,
                "message": rewritten(error, error.message),
                "hint": error.hint and rewritten(error, error.hint),
                "provider": error.provider,
                "model": error.model,
                "status": error.status,
                "request_id": error.request_id,
                "retryable": error.retryable,
                "retry_after": error.retry_after,
                "partial": error.partial.text if error.partial is not None else None,
            },
            "tool_steps": [_step(step) for step in loop.steps] if loop is not None else [],
            "exit_code": code,
        }
    )


def plugins_json(reports: Iterable[PluginReport], backends: Sequence[Mapping[str, object]], code: int) -> str:
    """Returns plugin reports and backends as JSON; `registered` holds pairs of a kind and a name."""
    plugins = [{**asdict(report), "slow": report.slow} for report in reports]
    return json_line({"plugins": plugins, "backends": backends, "exit_code": code})


def catalogue_json(data: Mapping[str, object]) -> str:
    """Returns the catalogue's facts as JSON."""
    return json_line({**data, "exit_code": 0})


def json_line(data: Mapping[str, object]) -> str:
    """Returns one line. JSON escapes ASCII control characters; others are as dangerous to a terminal."""
    return escaped(json.dumps(data, ensure_ascii=False)) + "\n"
