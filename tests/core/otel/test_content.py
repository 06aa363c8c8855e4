"""Content is on spans only if it was asked for, and then as much as was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from abstractcore import Services, ToolError, create_llm, tool
from abstractcore.testing import ScriptedReply
from tests.core.otel.conftest import Program

SENT = ("canary-system", "canary-prompt", "canary-argument", "canary-result")
ANSWERED = ("canary-answer", "canary-thought")
IN_ERRORS = "canary-error"
VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


@tool
def look(word: str) -> str:
    """Looks it up."""
    if word == IN_ERRORS:
        raise ToolError(f"no {word}")
    return "canary-result"


def spans_with(program: Program, services: Services, **options: Any) -> str:
    """Returns all that spans and metrics say of a loop with canaries everywhere, as text."""
    called = ScriptedReply.tool_call("look", {"word": "canary-argument"})
    failed = ScriptedReply.tool_call("look", {"word": IN_ERRORS})
    answer = ScriptedReply.text("canary-answer", reasoning="canary-thought")
    llm = create_llm("scripted", model="m", replies=[called + failed, answer], services=services)
    program.instrument(**options)
    llm.generate("canary-prompt", system_prompt="canary-system", tools=[look], run_tools=True)
    return "".join(map(written, program.finished())) + str(program.metrics())


def written(span: ReadableSpan) -> str:
    return span.to_json() + str(span.status.description)


@pytest.mark.parametrize("names", ["otel", "openinference"])
@pytest.mark.parametrize("options", [{}, {"capture": "off"}])
def test_off_has_no_content(program: Program, services: Services, names: str, options: dict[str, str]):
    assert "canary" not in spans_with(program, services, names=names, **options)


@pytest.mark.parametrize("names", ["otel", "openinference"])
def test_redacted_has_sizes(program: Program, services: Services, names: str):
    text = spans_with(program, services, names=names, capture="redacted")
    assert "canary" not in text
    assert f"[{len('canary-prompt')} characters]" in text


@pytest.mark.parametrize("names", ["otel", "openinference"])
def test_full_has_content(program: Program, services: Services, names: str):
    text = spans_with(program, services, names=names, capture="full")
    assert all(canary in text for canary in (*SENT, "canary-answer", IN_ERRORS))


@pytest.mark.parametrize("value", ["true", "TRUE", "span_only", "SPAN_AND_EVENT", " true "])
def test_variable_turns_content_on(program: Program, services: Services, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv(VARIABLE, value)
    text = spans_with(program, services)
    assert all(canary in text for canary in (*SENT, *ANSWERED))


@pytest.mark.parametrize("value", ["", "false", "NO_CONTENT", "EVENT_ONLY", "1", "yes"])
def test_other_values_leave_it_off(program: Program, services: Services, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv(VARIABLE, value)
    assert "canary" not in spans_with(program, services)


def test_argument_goes_before_the_variable(program: Program, services: Services, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, "true")
    assert "canary" not in spans_with(program, services, capture="off")
