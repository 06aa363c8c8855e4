"""Agent cards: read from JSON, the interface that is used, and the definition of the agent's tool."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from typing import Any

from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard, AgentSkill

from abstractcore import SchemaError, ToolServerError, ToolSpec
from abstractcore.toolservers import (
    UNTRUSTED_AND_SENDS,
    Definition,
    Labels,
    cleaned,
    cleaned_name,
    labels_of,
    nearest_name,
    one_line,
    shown,
)

from .addresses import Origin, origin_of

BINDINGS = ["JSONRPC", "HTTP+JSON"]
"""The transports that are used; gRPC is not."""
CONTEXT_ID = "context_id"
MESSAGE = "message"
DATA = "data"
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(\.|$)")
_LONGEST_DESCRIPTION = 16_000
_LONGEST_SKILL = 2_000
_MOST_EXAMPLES = 3


def card_of(content: Any, agent: str) -> AgentCard:
    """Returns a card of JSON, of version 0.3 or 1 of the protocol; raises `ToolServerError`."""
    try:
        card = parse_agent_card(deepcopy(content))
    except Exception as error:  # the SDK raises errors of many types for cards that break the schema
        raise ToolServerError(f"the card of the A2A agent {agent} is not valid: {one_line(str(error))}.") from None
    if not card.name and not card.supported_interfaces:
        raise ToolServerError(f"the card of the A2A agent {agent} is not valid: it has no name and no interfaces.")
    return card


def with_usable_interfaces(card: AgentCard, agent: str, origins: Collection[Origin]) -> AgentCard:
    """Returns the card with the interfaces that can be used; raises `ToolServerError` if there are none."""
    problems: list[str] = []
    hint: str | None = None
    usable = AgentCard()
    usable.CopyFrom(card)
    del usable.supported_interfaces[:]
    for interface in card.supported_interfaces:
        origin = origin_of(interface.url)
        if interface.protocol_binding not in BINDINGS:
            problems.append(f"the transport {shown(interface.protocol_binding)} is not supported")
        elif not _is_known_version(interface.protocol_version):
            problems.append(f"version {shown(interface.protocol_version)} of the protocol is not supported")
        elif origin is None:
            problems.append(f"{shown(interface.url)} is not an http or https URL")
        elif origin not in origins:
            problems.append(f"{shown(interface.url)} has another origin than the card")
            hint = f"If it belongs to the agent: A2AAgent(..., origins=[{_written(origin)!r}])."
        else:
            usable.supported_interfaces.append(interface)
    if not usable.supported_interfaces:
        what = "; ".join(dict.fromkeys(problems)) or "its card has none"
        raise ToolServerError(f"the A2A agent {agent} has no interface that can be used: {what}.", hint=hint)
    return usable


def definition_of(
    card: AgentCard, agent: str, name: str | None, description: str | None, labels: Labels | None, *, defer: bool
) -> Definition:
    """Returns the definition of the tool of an agent; raises `ToolServerError` for a card that has no such.

    Characters that a person cannot see are removed. Nothing is known of what an agent does: it may be destructive.
    """
    given = name or nearest_name(cleaned_name(card.name) or agent)
    try:
        spec = ToolSpec(
            given,
            _description(card) if description is None else description,
            _parameters(card),
            destructive=True,
            defer=defer,
            labels=labels_of(given, labels, default=UNTRUSTED_AND_SENDS),
        )
    except SchemaError as error:
        raise ToolServerError(f"the A2A agent {agent} cannot be a tool: {error}") from None
    return Definition.of(spec.name, spec)


def _is_known_version(version: str) -> bool:
    """Returns whether a version is 0.3 or 1; a card without one is of the current version."""
    if not version:
        return True
    match = _VERSION.match(version)
    return match is not None and (match[1] == "1" or (match[1] == "0" and int(match[2]) >= 3))


def _written(origin: Origin) -> str:
    scheme, host, port = origin
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def _description(card: AgentCard) -> str:
    parts = [cleaned(card.description[: _LONGEST_DESCRIPTION // 2]).strip()]
    left = _LONGEST_DESCRIPTION - len(parts[0]) - 100
    skills = [_skill(skill) for skill in card.skills]
    if skills:
        parts.append("It is an agent with these skills:")
    for index, skill in enumerate(skills):
        left -= len(skill) + 1
        if left < 0:
            parts.append(f"... and {len(skills) - index} more")
            break
        parts.append(skill)
    return "\n".join(part for part in parts if part)


def _skill(skill: AgentSkill) -> str:
    """Returns a line about a skill, with examples."""
    words = [cleaned_name(skill.name or skill.id)]
    if skill.description:
        words.append(_in_line(skill.description))
    examples = "; ".join(_in_line(each) for each in skill.examples[:_MOST_EXAMPLES])
    line = "- " + ": ".join(words) + (f" For example: {examples}" if examples else "")
    return line[:_LONGEST_SKILL]


def _in_line(text: str) -> str:
    return " ".join(cleaned(text[:_LONGEST_SKILL]).split())


def _parameters(card: AgentCard) -> Mapping[str, Any]:
    properties: dict[str, Any] = {
        MESSAGE: {
            "type": "string",
            "description": "What the agent is asked to do, with all that it must know: it sees nothing else.",
        }
    }
    if any(_is_json(mode) for mode in _input_modes(card)):
        properties[DATA] = {"type": "object", "description": "Structured input for the agent, beside the message."}
    properties[CONTEXT_ID] = {
        "type": "string",
        "description": "The context_id of an earlier answer of the agent, to continue that conversation.",
    }
    return {"type": "object", "properties": properties, "required": [MESSAGE], "additionalProperties": False}


def _input_modes(card: AgentCard) -> Iterator[str]:
    yield from card.default_input_modes
    for skill in card.skills:
        yield from skill.input_modes


def _is_json(mode: str) -> bool:
    media_type = mode.partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")
