"""The laws of a transpiler, for this format; and every request is one that the vendor's own client would send."""

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import HostedToolResult, Message, ModelCall, OutputSchema, ToolChoice
from abstractcore.testing import check_call_losses, check_laws
from abstractcore_providers.formats.bedrock_converse import BedrockConverse
from tests.properties import examples
from tests.providers.formats.bedrock_converse import generated
from tests.providers.formats.bedrock_converse.wire import CONVERSE, DIALECTS, faults
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive

_NO_PLACES = (
    "no field for any part",
    "does not support",
    "the result of tool call",
    "are not available",
    "is empty, which",
)
"""In messages of errors for content that is not supported, or of which nothing is left."""
_ORDERS = ("must begin with a user message", "two assistant messages in a row")


def test_laws_hold():
    check_laws(BedrockConverse(), "bedrock", calls=generated.calls(), replies=generated.replies(), max_examples=20)


@pytest.mark.parametrize("kind", DIALECTS)
def test_laws_hold_for_models_of_every_kind(kind: str):
    calls = generated.calls_with_fields()
    check_laws(DIALECTS[kind], "bedrock", calls=calls, replies=generated.replies(), max_examples=15)


@examples(60)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), "bedrock", output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        CONVERSE.encode(call)
    except InvalidInputError as error:
        odd = error.path == "messages" or any(order in error.message for order in _ORDERS)
        assert odd or "provider_options." in error.path or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert call.hosted_tools or any(why in error.message for why in _NO_PLACES)  # noqa: PT017


@examples(30)
@given(generated.calls(optioned=False))
def test_every_request_matches_the_vendors_model(call: ModelCall):
    call = call.with_(provider_options={})
    try:
        requests = [CONVERSE.encode(call).request, CONVERSE.operations["count_tokens"].encode(call).request]
    except (InvalidInputError, UnsupportedContentError):
        return
    for request in requests:
        assert not faults(request)


def test_a_choice_beside_a_lone_result_of_a_hosted_tool_has_a_warning():
    messages = (Message.user("hi"), Message("assistant", (HostedToolResult("0"),)))
    call = ModelCall("m", messages, "bedrock", tool_choice=ToolChoice())
    check_call_losses(BedrockConverse(), call)
    assert [each.path for each in BedrockConverse().encode(call).warnings] == ["tool_choice"]
