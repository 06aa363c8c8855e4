"""A model calls two functions until it can answer: `python examples/tool_loop.py`.

Without options the replies are scripted, and it runs offline. With a model, it decides itself which tools it calls:
`python examples/tool_loop.py --model local/qwen2.5-coder-1.5b` (on this machine), or `--model anthropic` with a key.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from abstractcore import (
    LLM,
    StreamEvent,
    TextDelta,
    ToolContext,
    ToolEnded,
    ToolFailed,
    ToolOutput,
    ToolPolicy,
    ToolProgress,
    ToolStarted,
    create_llm,
    tool,
)
from abstractcore.testing import ScriptedReply

QUESTION = "How warm is it in Oslo, in degrees Fahrenheit?"


@dataclass(frozen=True)
class Station:
    """What a weather station has measured: for this program, not for the model."""

    number: int
    celsius: float


STATIONS = {"Oslo": Station(18700, 15.0), "Lima": Station(84628, 20.0)}


@tool(read_only=True)
def temperature(city: str, context: ToolContext[dict[str, Station]]) -> ToolOutput:
    """Measures the temperature in a city, in degrees Celsius.

    Args:
        city: Name of the city.
    """
    station = context.deps.get(city)
    if station is None:
        raise ToolFailed(f"There is no station in {city}. There are stations in {', '.join(context.deps)}.")
    context.progress(1, 1, f"station {station.number}")
    return ToolOutput(f"{station.celsius} degrees Celsius", data=station)


@tool(read_only=True, idempotent=True)
def to_fahrenheit(celsius: float) -> float:
    """Converts degrees Celsius to degrees Fahrenheit.

    Args:
        celsius: The number of degrees Celsius.
    """
    return celsius * 9 / 5 + 32


LIMITS = ToolPolicy(max_rounds=6, max_uses={"temperature": 3}, timeout=10, max_result=1000, on_limit="answer")
SCRIPT = (
    ScriptedReply.text("Let me look.") + ScriptedReply.tool_call("temperature", {"city": "Oslo"}),
    ScriptedReply.tool_call("to_fahrenheit", {"celsius": 15.0}),
    "It is 59 degrees Fahrenheit in Oslo.",
)


def answer(llm: LLM, question: str) -> None:
    """Prints text and the events of tools as they happen; then each call with its data, and the sums."""
    with llm.stream(
        question,
        tools=[temperature, to_fahrenheit],
        run_tools=LIMITS,
        deps=STATIONS,
        temperature=0,
        max_output_tokens=80,
    ) as events:
        for event in events:
            show(event)
    response = events.response
    print()
    for step in response.tool_steps:
        print(f"round {step.round}: {step.call.name} {step.outcome}, data: {step.data}")
    loop = response.loop
    assert loop is not None
    print(f"{loop.status} after {len(response.steps)} replies, {response.usage.output} tokens of output")


def show(event: StreamEvent) -> None:
    """Prints one event."""
    match event:
        case TextDelta():
            print(event.text, end="", flush=True)
        case ToolStarted():
            print(f"\n-> {event.call.name}({event.call.arguments_text})", flush=True)
        case ToolProgress():
            print(f"   {event.message}", flush=True)
        case ToolEnded(step):
            print(f"<- {step.result.as_text}", flush=True)
        case _:
            pass


def main() -> None:
    """Answers the question with a scripted model, or the model of `--model`."""
    options = argparse.ArgumentParser(description="A model calls two functions.")
    options.add_argument("--model", help="PROVIDER/MODEL; default: scripted replies")
    options.add_argument("--question", default=QUESTION)
    given = options.parse_args()
    with create_llm(given.model) if given.model else create_llm("scripted", replies=list(SCRIPT)) as llm:
        answer(llm, given.question)


if __name__ == "__main__":
    main()
