"""OpenTelemetry: the spans of a request, its loop, its tool and their calls, and what they cost.

The spans stay in memory here; an application's own exporter sends them to its collector. It needs the extra `otel`.
"""

from __future__ import annotations

from abstractcore.otel import instrument  # before the SDK: it says what to install

# isort: split
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from abstractcore import Price, context, create_llm, tool
from abstractcore.testing import ScriptedReply

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("calendar")


@tool
def next_meeting(day: str) -> str:
    """Looks up the next meeting of a day."""
    with tracer.start_as_current_span("SELECT meetings"):  # what a tool traces itself is a child of its run
        return f"{day}: budget, 9.30"


replies = [ScriptedReply.tool_call("next_meeting", {"day": "Monday"}), "The meeting starts at 9.30."]
llm = create_llm("scripted", model="small", replies=replies, price=Price("0.15", "0.60"))

with (
    instrument(tracer_provider=provider),
    tracer.start_as_current_span("GET /calendar"),
    context(session="s-1", tags={"team": "office"}),
):
    llm.generate("When does the meeting start?", tools=[next_meeting], run_tools=True, prompt_name="calendar@3")


def show(span: ReadableSpan, depth: int = 0) -> None:
    """Prints a span, and those below it."""
    attributes = span.attributes or {}
    tokens = attributes.get("gen_ai.usage.input_tokens")
    cost = attributes.get("abstractcore.cost.usd")
    print(
        f"{'  ' * depth}{span.name}"
        + (f"  {tokens} tokens in" if tokens is not None else "")
        + (f"  ${cost:.8f}" if isinstance(cost, float) else "")
    )
    own = span.get_span_context()
    for child in sorted(exporter.get_finished_spans(), key=lambda each: each.start_time or 0):
        if own is not None and child.parent is not None and child.parent.span_id == own.span_id:
            show(child, depth + 1)


for root in exporter.get_finished_spans():
    if root.parent is None:
        show(root)
