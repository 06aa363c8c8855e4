"""The laws of a transpiler, for this format and a dialect of it."""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, ModelReply, OutputSchema, ReasoningPart
from abstractcore.testing import check_laws, check_render_again, check_reply_losses, check_stream
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages, MessagesDialect
from tests.properties import examples
from tests.providers.formats.anthropic_messages import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive


@pytest.mark.process
def test_laws_hold():
    check_laws(AnthropicMessages(), "anthropic", calls=generated.calls(), replies=generated.replies(), max_examples=50)


def test_laws_hold_with_system_messages_in_place():
    dialect = MessagesDialect(provider="elsewhere", max_tokens=10, system_in_place=True)
    check_laws(AnthropicMessages(dialect), "elsewhere", calls=generated.calls("elsewhere"), max_examples=15)


def test_laws_hold_for_models_with_another_thinking_off():
    dialect = MessagesDialect(off="between_tools")
    check_laws(AnthropicMessages(dialect), "anthropic", calls=generated.calls(), max_examples=15)


@pytest.mark.parametrize(
    "dialect",
    [
        MessagesDialect(),
        MessagesDialect(display=True, off_effort="high"),
        MessagesDialect(thinks_by_default=True),
        MessagesDialect(display=True, thinks_by_default=True, block_binding=True, version="2026-10-21"),
        MessagesDialect(
            off="between_tools", display=True, thinks_by_default=True, block_binding=True, off_effort="high"
        ),
    ],
    ids=["plain", "display", "thinks by default", "newest", "newest off"],
)
def test_laws_hold_for_models_of_every_kind(dialect: MessagesDialect):
    calls = generated.calls_with_thinking_options()
    check_laws(AnthropicMessages(dialect), "anthropic", calls=calls, max_examples=60)


@examples(60)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), "anthropic", output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        AnthropicMessages().encode(call)
    except InvalidInputError as error:
        own = error.path.startswith(("provider_options.", "hosted_tools["))
        assert own or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert "file_search" in error.message  # noqa: PT017


@pytest.mark.parametrize(
    ("parts", "blocks"),
    [
        ((ReasoningPart("a"), ReasoningPart("b", redacted_data="r")), ["ab"]),
        ((ReasoningPart("a", redacted_data="r"), ReasoningPart("b", redacted_data="r"), ReasoningPart("c")), ["abc"]),
        ((ReasoningPart("a", "s"), ReasoningPart("b"), ReasoningPart("c", "s")), ["a", "b", "c"]),
    ],
    ids=["plain before redacted", "three unsigned", "signed around plain"],
)
def test_adjacent_unsigned_thinking_is_merged(parts: tuple[ReasoningPart, ...], blocks: list[str]):
    own = [replace(part, origin="anthropic/m") for part in parts]
    reply = ModelReply(own, "stop", model="m", provider="anthropic")
    content = json.loads(AnthropicMessages().render(reply).body)["content"]
    assert [block["thinking"] for block in content] == blocks
    check_reply_losses(AnthropicMessages(), reply)
    check_render_again(AnthropicMessages(), reply)
    check_stream(AnthropicMessages(), reply)
