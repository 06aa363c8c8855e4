"""The server behind both halves of the pages: this project's own, with models that answer by fixed rules.

A call is answered by what it has: a result of a tool, tools, a schema, an image, an earlier turn.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from abstractcore import ImagePart, ModelCall, OverloadedError, create_llm
from abstractcore.schema import ToolResult
from abstractcore.testing import ScriptedReply
from abstractcore_server import Application, Settings, server_services
from tests.server.serving import running

MODEL = "gpt-5.4-mini"
BUSY = "gpt-5.4"
"""A model that is always overloaded."""
_CITY = {"name": "Oslo", "people": 717710}


def answer(call: ModelCall) -> ScriptedReply | str:
    """Returns the answer of the model."""
    last = call.messages[-1]
    results = [part for part in last.parts if isinstance(part, ToolResult)]
    if results:
        return f"A ticket to Oslo is {results[-1].as_text} euros."
    asked = [tool for tool in call.tools if "place" in json.dumps(_plain(tool.parameters))]
    if asked:
        return ScriptedReply.tool_call(asked[0].name, {"place": "Oslo"})
    if call.tools:  # how some clients ask for a typed answer
        return ScriptedReply.tool_call(call.tools[0].name, _CITY)
    if call.output is not None:
        return json.dumps(_CITY)
    if any(isinstance(part, ImagePart) for part in last.parts):
        return "A receipt."
    if "my name" in last.text:
        return "Ada." if any("Ada" in message.text for message in call.messages[:-1]) else "I do not know."
    return "Oslo." if "capital" in last.text else "Hello."


def _busy(call: ModelCall) -> str:
    raise OverloadedError("too many requests")


def _plain(parameters: Mapping[str, object]) -> dict[str, object]:
    return {name: str(value) for name, value in parameters.items()}


@contextmanager
def vendor() -> Generator[dict[str, str]]:
    """Runs the server during `with`; yields the variables by which clients of OpenAI find it."""
    services = server_services(Settings(), environment={})
    settings = replace(Settings(), server=replace(Settings().server, port=0))
    models = {
        name: create_llm("scripted", replies=rule, accepts=["image"], services=services, max_retries=0)
        for name, rule in ((MODEL, answer), (BUSY, _busy))
    }
    with running(Application(settings, models=models, services=services), settings) as url:
        yield {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "any-key"}
    services.close()
