"""Agent cards: those that others published, how they are found, kept and trusted, and what they must not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from a2a.types import AgentCard, AgentInterface, AgentSkill

from abstracta2a import A2AAgent
from abstractcore import ConfigurationError, InvalidInputError, ToolServerError, UnknownOptionError
from abstractcore.testing.http_server import ScriptedServer, answer, head
from tests.core.tools.loops import Way, calls, scripted
from tests.plugins.a2a.agents import Helper, helper_app, helper_card, served
from tests.plugins.a2a.talk import TOOL, asked, begun

CARDS = Path(__file__).with_name("cards")
CARD: dict[str, Any] = {
    "name": "Helper Agent",
    "description": "Helps.",
    "version": "1.0.0",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
}


def card_at(url: str, **changes: Any) -> dict[str, Any]:
    """The card of an agent at `url`."""
    interface = {"url": f"{url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    return {**CARD, "supportedInterfaces": [interface], **changes}


def sent(card: Any, **headers: Any) -> bytes:
    """The response with a card."""
    return answer(card, **headers)


@pytest.mark.parametrize(
    ("file", "tool", "skills", "takes_data"),
    [
        ("georoute", "GeoSpatial_Route_Planner_Agent", ["Traffic-Aware Route Optimizer", "Personalized Map"], True),
        ("reimbursement", "reimbursement_agent", ["Automatic Reimbursement", "Approval Workflow", "Expense"], False),
        ("recipes", "Recipe_Assistant_Agent", ["Recipe Search"], True),
    ],
)
def test_published_cards_are_tools(file: str, tool: str, skills: list[str], takes_data: bool):
    path = CARDS / f"{file}.json"
    for card in (path, str(path), json.loads(path.read_text())):
        [spec] = A2AAgent(card=card).list_tools()
        assert spec.name == tool
        assert spec.description.startswith(json.loads(path.read_text())["description"])
        assert [
            line.startswith(f"- {skill}") for line, skill in zip(spec.description.splitlines()[2:], skills, strict=True)
        ] == [True] * len(skills)
        properties: Any = spec.parameters["properties"]
        assert ("data" in properties) == takes_data
        assert (spec.labels, spec.destructive, spec.read_only) == (("untrusted", "sends"), True, False)


def test_given_card_needs_no_request_and_names_the_origin():
    helper = Helper()
    with served(lambda url: helper_app(helper_card(url), helper)) as url, Way.of("sync-whole") as way:
        assert asked(way, A2AAgent(card=helper_card(url)), "echo x").outcome == "done"
        assert asked(way, A2AAgent(card=card_at(url)), "echo x").outcome == "done"
    assert A2AAgent(card=card_at(url)).name == "Helper Agent"


@pytest.mark.parametrize(
    ("path", "found_at"),
    [
        ("", "/.well-known/agent-card.json"),
        ("/", "/.well-known/agent-card.json"),
        ("/agents/one", "/agents/one/.well-known/agent-card.json"),
        ("/cards/one.json?v=2", "/cards/one.json?v=2"),
    ],
)
def test_card_is_at_the_well_known_path_below_the_address(path: str, found_at: str):
    with ScriptedServer() as server:
        server.always(sent(card_at(server.url)))
        assert [spec.name for spec in A2AAgent(server.url + path).list_tools()] == [TOOL]
        assert [request.target for request in server.requests] == [found_at]


def test_card_is_kept_for_its_max_age_and_then_asked_for_by_its_etag():
    with ScriptedServer() as server:
        server.script(sent(card_at(server.url), etag='"1"', cache_control="max-age=0"))
        server.script(head(304, {"etag": '"1"', "cache-control": "max-age=600"}))
        server.always(sent(card_at(server.url, name="Other")))
        agent = A2AAgent(server.url)
        assert [agent.list_tools()[0].name for _ in range(4)] == [TOOL] * 4
        assert ["if-none-match" in request.headers for request in server.requests] == [False, True]


def test_card_without_a_max_age_is_kept_for_a_while():
    with ScriptedServer() as server:
        server.always(sent(card_at(server.url)))
        agent = A2AAgent(server.url)
        for _ in range(3):
            agent.list_tools()
        assert len(server.requests) == 1


def test_changed_card_waits_for_approval(tmp_path: Path):
    pins = tmp_path / "pins.json"
    card = CARDS / "recipes.json"
    assert A2AAgent(card=card, pins=pins).list_tools()
    changed = {**json.loads(card.read_text()), "description": "Sends all your files."}
    with Way.of("sync-whole") as way:
        response = begun(way, A2AAgent(card=changed, pins=pins), "x", tool="Recipe_Assistant_Agent")
    [pending] = response.loop.pending
    assert pending.reason == "tool_changed"


def test_description_and_name_of_ones_own_hide_those_of_the_card():
    card = CARDS / "recipes.json"
    agent = A2AAgent(card=card, name="cook", description="Knows recipes.", labels=["private"], defer=True)
    [spec] = agent.list_tools()
    assert (agent.name, spec.name, spec.description) == ("cook", "cook", "Knows recipes.")
    assert (spec.labels, spec.defer) == (("private",), True)


def test_labels_that_match_no_tool_are_a_warning():
    agent = A2AAgent(card=CARDS / "recipes.json", labels={"Recip_*": ("private",), "Recipe_*": ("untrusted",)})
    llm = scripted("Done.")
    [warning] = llm.generate("x", tools=[agent]).warnings
    assert (warning.code, warning.path) == ("no_tool_matches", "tools.Recipe Assistant Agent")
    [tool] = llm.calls[0].tools
    assert getattr(tool, "labels", None) == ("untrusted",)


def test_invisible_characters_and_long_texts_are_not_shown_to_the_model():
    skill = AgentSkill(id="x", name="Na\x1bme\u202e", description="De\x07s\ncription", examples=["a\u2066b"] * 9)
    skills = [skill, *[AgentSkill(id=str(n), name=str(n), description="long " * 400) for n in range(50)]]
    interface = AgentInterface(url="https://agent.example/", protocol_binding="JSONRPC", protocol_version="1.0")
    card = AgentCard(
        name="Bü\x00ro \u202eAgent!", description="a\x1b[31mb", supported_interfaces=[interface], skills=skills
    )
    [spec] = A2AAgent(card=card).list_tools()
    assert spec.name == "Buro_Agent"
    assert spec.description.splitlines()[:3] == [
        "a[31mb",
        "It is an agent with these skills:",
        "- Name: Des cription For example: ab; ab; ab",
    ]
    assert len(spec.description) < 16_500
    assert spec.description.endswith("more")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"supportedInterfaces": []}, "its card has none"),
        ({"supportedInterfaces": [{"url": "x", "protocolBinding": "GRPC"}]}, "the transport 'GRPC' is not supported"),
        (
            {"supportedInterfaces": [{"url": "https://a.b/", "protocolBinding": "JSONRPC", "protocolVersion": "2.0"}]},
            "version '2.0' of the protocol is not supported",
        ),
        (
            {
                "supportedInterfaces": [
                    {"url": "https://a.b/", "protocolBinding": "JSONRPC", "protocolVersion": "0.2.5"}
                ]
            },
            "version '0.2.5' of the protocol is not supported",
        ),
        ({"supportedInterfaces": [{"url": "file:///x", "protocolBinding": "JSONRPC"}]}, "is not an http or https URL"),
        ({"supportedInterfaces": 3}, "is not valid"),
        ({"skills": "none"}, "is not valid"),
        ({"name": "", "supportedInterfaces": []}, "is not valid: it has no name and no interfaces"),
    ],
)
def test_card_without_an_interface_that_can_be_used_is_an_error(changes: dict[str, Any], problem: str):
    with pytest.raises(ToolServerError) as raised:
        A2AAgent(card={**card_at("https://agent.example"), **changes}).list_tools()
    assert problem in str(raised.value)
    assert raised.value.server is not None


def test_interface_of_another_origin_is_refused_until_it_is_named():
    """Neither a message nor a header goes to an address that only the card names."""
    with ScriptedServer() as other, ScriptedServer() as server:
        server.always(sent(card_at(other.url)))
        agent = A2AAgent(server.url, headers={"authorization": "Bearer secret"})
        with pytest.raises(ToolServerError) as raised:
            agent.list_tools()
        assert "has another origin than the card" in str(raised.value)
        assert raised.value.hint == f"If it belongs to the agent: A2AAgent(..., origins=['{other.url}'])."
        assert other.requests == []
        assert [spec.name for spec in A2AAgent(server.url, origins=[other.url]).list_tools()] == [TOOL]


def test_unreachable_agent_is_a_warning_where_it_is_not_required(one_of_two_ways: Way):
    with ScriptedServer() as server:
        url = server.url
    llm = scripted("Done.")
    response = one_of_two_ways.generate(llm, tools=[A2AAgent(url, required=False)], run_tools=True)
    assert response.content == "Done."
    assert [warning.code for warning in response.warnings] == ["tool_server_failed"]
    with pytest.raises(ToolServerError, match="cannot be reached"):
        one_of_two_ways.generate(scripted("Done."), tools=[A2AAgent(url)], run_tools=True)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "A2AAgent"),
        ({"url": "https://a.example", "card": {}}, "A2AAgent"),
        ({"url": "agent.example"}, "url"),
        ({"url": "ftp://agent.example"}, "url"),
        ({"url": "http://agent.example:99999"}, "url"),
        ({"url": "card.json"}, "url"),
        ({"url": 3}, "url"),
        ({"card": 3}, "card"),
        ({"origins": "https://a.example"}, "origins"),
        ({"origins": ["a.example"]}, "origins[0]"),
        ({"headers": 3}, "headers"),
        ({"auth": "key"}, "auth"),
        ({"name": ""}, "name"),
        ({"name": "my agent"}, "name"),
        ({"description": 3}, "description"),
        ({"required": 1}, "required"),
        ({"defer": "yes"}, "defer"),
        ({"labels": "private"}, "labels"),
        ({"labels": ["secret"]}, "labels"),
        ({"pins": 3}, "pins"),
        ({"timeout": 0}, "timeout"),
        ({"connect_timeout": -1}, "connect_timeout"),
        ({"max_message_bytes": True}, "max_message_bytes"),
    ],
)
def test_invalid_arguments_are_named(arguments: dict[str, Any], path: str):
    given: dict[str, Any] = (
        arguments if arguments.keys() & {"url", "card"} or not arguments else {"url": "https://a.example", **arguments}
    )
    with pytest.raises(InvalidInputError) as raised:
        A2AAgent(**given)
    assert raised.value.path == path


def test_unknown_option_is_named_with_the_nearest():
    arguments: Any = {"header": {"x": "y"}}
    with pytest.raises(UnknownOptionError) as raised:
        A2AAgent("https://agent.example", **arguments)
    assert raised.value.hint is not None
    assert "headers" in raised.value.hint


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot be read"), (b"{", "is not JSON"), (b"\xff", "is not JSON"), (b"[]", "not an agent card")],
)
def test_file_without_a_card_is_an_error(content: bytes | None, problem: str, tmp_path: Path):
    file = tmp_path / "card.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=problem):
        A2AAgent(card=file)


def test_deferred_agent_costs_no_prompt():
    agent = A2AAgent(card=CARDS / "recipes.json", defer=True)
    llm = scripted(calls(("search_tools", {"query": "recipes"})), "Done.")
    assert llm.generate("x", tools=[agent], run_tools=True).content == "Done."
    assert [tool.name for tool in llm.calls[0].tools] == ["search_tools"]
