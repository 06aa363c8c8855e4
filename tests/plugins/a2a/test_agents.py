"""Agents as tools in loops: sync and async, streamed and not, with agents that stream and such that are polled."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from a2a.types import AgentInterface

from abstracta2a import A2AAgent
from abstractcore import DocumentPart, ImagePart, ToolProgress, create_llm
from tests.core.tools.loops import WAYS, Way, calls, scripted
from tests.plugins.a2a.agents import PIXEL, Helper, helper_app, helper_card, served
from tests.plugins.a2a.conftest import Served
from tests.plugins.a2a.talk import TOOL, asked, begun


def lines(text: str) -> list[str]:
    """The lines of a result without that of the context."""
    return [line for line in text.splitlines() if not line.startswith("[context_id: ")]


def test_message_is_the_result(way: Way, agent: A2AAgent):
    step = asked(way, agent, "echo Hello")
    assert (step.outcome, lines(step.result.as_text)) == ("done", ["Hello"])
    assert f"[context_id: {step.data['contextId']}]" in step.result.as_text
    assert step.labels == ("untrusted",)


def test_task_is_followed_to_its_end(way: Way, agent: A2AAgent):
    step = asked(way, agent, "count")
    assert step.outcome == "done"
    assert "".join(lines(step.result.as_text)).split() == ["one", "two", "three"]
    assert step.data["state"] == "completed"
    assert [each["name"] for each in step.data["artifacts"]] == ["numbers"]
    if way.streamed:
        progress = [event for event in way.events if isinstance(event, ToolProgress)]
        assert [event.done for event in progress] == [float(number + 1) for number in range(len(progress))]


def test_statuses_of_a_stream_are_progress():
    with served(lambda url: helper_app(helper_card(url), Helper())) as url, Way.of("sync-streamed") as way:
        asked(way, A2AAgent(url), "count")
        said = [event.message for event in way.events if isinstance(event, ToolProgress)]
    assert [each for each in said if each in ("one", "two", "three")] == ["one", "two", "three"]
    assert "artifact numbers" in said


def test_files_and_data_of_artifacts_are_parts(one_of_two_ways: Way, agent: A2AAgent):
    first = calls((TOOL, {"message": "files"}))
    llm = create_llm("scripted", replies=[first, "Done."], accepts=["image/png", "application/pdf"])
    [step] = one_of_two_ways.generate(llm, tools=[agent], run_tools=True).tool_steps
    text = step.result.as_text
    [image] = [part for part in step.result.content if isinstance(part, ImagePart)]
    assert (image.blob.data, image.blob.media_type, image.blob.name) == (PIXEL, "image/png", "pixel.png")
    [document] = [part for part in step.result.content if isinstance(part, DocumentPart)]
    assert (document.blob.location, document.blob.media_type) == ("https://files.example/map.pdf", "application/pdf")
    assert "[file: file:///etc/passwd]" in text
    assert '{"distance":12,"via":["a",null,1.5]}' in text
    assert lines(text)[0] == "Done."
    assert step.data["data"] == [{"distance": 12, "via": ["a", None, 1.5]}]
    [artifact] = step.data["artifacts"]
    assert (artifact["name"], artifact["metadata"]) == ("route", {"seconds": 3})


@pytest.mark.parametrize(
    ("message", "ending", "state"),
    [("fail", "failed.\nThe road is closed.", "failed"), ("reject", "was rejected.\nNot my work.", "rejected")],
)
def test_task_that_does_not_complete_is_an_error_result(
    one_of_two_ways: Way, agent: A2AAgent, message: str, ending: str, state: str
):
    step = asked(one_of_two_ways, agent, message)
    assert (step.outcome, step.result.is_error) == ("failed", True)
    assert f"The task of the agent 127.0.0.1 {ending}" in step.result.as_text
    assert step.data["state"] == state


def test_conversation_is_continued_by_its_id(one_of_two_ways: Way, agent: A2AAgent):
    first = asked(one_of_two_ways, agent, "echo one")
    arguments = {"message": "echo two", "context_id": first.data["contextId"]}
    llm = scripted(calls((TOOL, arguments)), "Done.")
    [second] = one_of_two_ways.generate(llm, tools=[agent], run_tools=True).tool_steps
    assert second.data["contextId"] == first.data["contextId"]


def nested(depth: int) -> dict[str, Any]:
    """An object in so many others."""
    return {} if depth == 0 else {"x": nested(depth - 1)}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"message": 3},
        {"message": "echo x", "context_id": 3},
        {"message": "echo", "data": nested(40)},
        {"message": "echo", "data": nested(90)},
    ],
)
def test_invalid_arguments_are_for_the_model_to_repair(agent: A2AAgent, arguments: dict[str, Any]):
    step = agent.call(TOOL, arguments)
    assert step.outcome == "retry"
    assert step.result.as_text.startswith(("message: expected text", "context_id: expected text", "data: "))


def test_structured_input_is_a_part_of_the_message():
    helper = Helper()
    with served(lambda url: helper_app(helper_card(url, default_input_modes=["application/json"]), helper)) as url:
        agent = A2AAgent(url)
        [spec] = agent.list_tools()
        step = agent.call(TOOL, {"message": "data", "data": {"from": "Oslo", "days": 3}})
    assert "data" in spec.parameters["properties"]
    assert step.data["data"] == [{"from": "Oslo", "days": 3}]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    ("binding", "version"), [("HTTP+JSON", "1.0"), ("JSONRPC", "0.3.0"), ("JSONRPC", "1.0.0"), ("JSONRPC", "")]
)
def test_every_supported_interface_is_spoken(binding: str, version: str, streaming: bool):
    def app(url: str) -> Any:
        path = "/" if binding == "JSONRPC" else "/rest"
        interface = AgentInterface(url=url + path, protocol_binding=binding, protocol_version=version)
        grpc = AgentInterface(url=url, protocol_binding="GRPC", protocol_version="1.0")
        card = helper_card(url, streaming=streaming, supported_interfaces=[grpc, interface])
        return helper_app(card, Helper())

    with served(app) as url, Way.of("async-whole") as way:
        agent = A2AAgent(url)
        assert lines(asked(way, agent, "echo Hello").result.as_text) == ["Hello"]
        assert "three" in asked(way, agent, "count").result.as_text
        files = way.style.run(agent.acall(TOOL, {"message": "files"}))
        assert files.data["data"] == [{"distance": 12, "via": ["a", None, 1.5]}]
        assert [part.blob.data for part in files.result.content if isinstance(part, ImagePart)] == [PIXEL]


def test_users_at_once_are_never_crossed(served_agent: Served):
    """Sync users in threads and async users in one event loop share the agent object."""
    agent = A2AAgent(served_agent.url, headers=lambda deps: {"x-user": str(deps)})
    users = ["ann", "bob"]

    def texts(response: Any) -> list[str]:
        return [lines(step.result.as_text)[0] for step in response.tool_steps]

    def sync_user(user: str) -> list[str]:
        return texts(
            scripted(calls(*[(TOOL, {"message": "whoami"})] * 3), "x").generate(
                "x", tools=[agent], run_tools=True, deps=user
            )
        )

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(sync_user, users)) == [[user] * 3 for user in users]

    async def async_user(user: str) -> list[str]:
        llm = scripted(calls(*[(TOOL, {"message": "whoami"})] * 3), "x")
        return texts(await llm.agenerate("x", tools=[agent], run_tools=True, deps=user))

    async def all_users() -> list[list[str]]:
        return await asyncio.gather(*map(async_user, users))

    assert asyncio.run(all_users()) == [[user] * 3 for user in users]


def test_two_agents_of_one_name_stand_side_by_side(agent: A2AAgent, served_agent: Served):
    other = A2AAgent(served_agent.url, name="second", description="Helps too.")
    with Way.of("sync-whole") as way:
        llm = scripted(calls((TOOL, {"message": "echo a"}), ("second", {"message": "echo b"})), "Done.")
        response = way.generate(llm, tools=[agent, other], run_tools=True)
    assert [lines(step.result.as_text) for step in response.tool_steps] == [["a"], ["b"]]
    assert [(tool.name, tool.description.split("\n")[0]) for tool in llm.calls[0].tools] == [
        (TOOL, "Helps."),
        ("second", "Helps too."),
    ]


def test_agents_of_one_name_get_names_that_every_provider_accepts(agent: A2AAgent, served_agent: Served):
    other = A2AAgent(served_agent.url, name="second")
    with served(lambda url: helper_app(helper_card(url, name="second"), Helper())) as url:
        llm = scripted("Done.")
        llm.generate("x", tools=[agent, other, A2AAgent(url)])
    assert [tool.name for tool in llm.calls[0].tools] == [TOOL, "second_second", "_127_0_0_1_second"]


@pytest.mark.parametrize("way_name", WAYS)
def test_several_calls_of_a_round_run_at_once(way_name: str, agent: A2AAgent):
    with Way.of(way_name) as way:
        response = begun(way, agent, "echo a", "count", "fail")
    assert [step.outcome for step in response.tool_steps] == ["done", "done", "failed"]


def test_connection_is_used_again(served_agent: Served):
    """Closing ends it, and the next use connects again."""
    with A2AAgent(served_agent.url) as agent:
        for _ in range(2):
            assert agent.call(TOOL, {"message": "echo x"}).outcome == "done"
        agent.close()
        assert agent.call(TOOL, {"message": "echo x"}).outcome == "done"
