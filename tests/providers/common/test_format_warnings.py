"""Warnings have the path of what a format cannot express, and unset fields have none."""

from __future__ import annotations

from decimal import Decimal

from abstractcore.schema import (
    Billing,
    CachePoint,
    CallWarning,
    Citation,
    HostedTool,
    Message,
    ModelCall,
    TextPart,
    ToolResult,
    Usage,
)
from abstractcore_providers.common.call_options import FormatWarnings

WARNINGS = FormatWarnings("the test format")
CALL = ModelCall("m", (Message.user("hi"),), modalities=("text",), parallel_tool_calls=False)


def test_set_fields_are_reported():
    warnings: list[CallWarning] = []
    part = TextPart("a", (Citation("s"),), CachePoint())
    WARNINGS.fields(part, "messages[0].parts[0]", ("cache", "citations", "detail"), warnings)
    assert [(warning.code, warning.path) for warning in warnings] == [
        ("cache_left_out", "messages[0].parts[0].cache"),
        ("citations_left_out", "messages[0].parts[0].citations"),
    ]
    assert str(warnings[0]).startswith("the test format has no field for cache here")


def test_empty_fields_are_not_reported():
    warnings: list[CallWarning] = []
    names = ("cache", "citations", "is_error", "provider_metadata", "detail")
    for item in (TextPart("a"), ToolResult("id", ()), Citation("s")):
        WARNINGS.fields(item, "", names, warnings)
    assert warnings == []


def test_set_options_are_reported_with_their_values():
    warnings: list[CallWarning] = []
    names = ("parallel_tool_calls", "modalities", "thinking")
    WARNINGS.options(CALL, names, warnings)
    assert [(warning.path, warning.requested) for warning in warnings] == [
        ("parallel_tool_calls", False),
        ("modalities", ["text"]),
    ]


def test_omitted_counts_and_metadata_are_reported_with_their_values():
    warnings: list[CallWarning] = []
    WARNINGS.counts(Usage(1, reasoning=0), ("reasoning", "input_audio"), warnings)
    WARNINGS.metadata({"a": 1, "b": 2}, {"a": 1}, warnings)
    WARNINGS.metadata({"a": 1}, {"a": 1}, warnings)
    WARNINGS.finish_reason("paused", "paused", warnings)
    WARNINGS.finish_reason("paused", "stop", warnings)
    assert [(warning.code, warning.path, warning.requested, warning.sent) for warning in warnings] == [
        ("count_left_out", "usage.reasoning", 0, None),
        ("metadata_left_out", "provider_metadata", {"a": 1, "b": 2}, {"a": 1}),
        ("finish_reason_changed", "finish_reason", "paused", "stop"),
    ]


def test_errors_name_the_format_and_the_tool():
    call = CALL.with_(hosted_tools=(HostedTool("web_search"),), provider="p")
    assert "the test format has no field for any part" in str(WARNINGS.nothing_left())
    error = WARNINGS.hosted_tools(call)
    assert "web_search" in str(error)
    assert (error.provider, error.model) == ("p", "m")


def test_changed_billing_is_reported_with_its_values():
    warnings: list[CallWarning] = []
    billing, sent = Billing(Decimal("0.5"), counts={"web_search": 1}), Billing(counts={"web_search": 1})
    WARNINGS.billing(None, None, warnings)
    WARNINGS.billing(billing, billing, warnings)
    WARNINGS.billing(billing, None, warnings)
    WARNINGS.billing(billing, sent, warnings)
    assert [(warning.code, warning.path, warning.requested, warning.sent) for warning in warnings] == [
        ("billing_left_out", "usage.billing", {"cost": "0.5", "counts": {"web_search": 1}}, None),
        (
            "billing_changed",
            "usage.billing",
            {"cost": "0.5", "counts": {"web_search": 1}},
            {"counts": {"web_search": 1}},
        ),
    ]
