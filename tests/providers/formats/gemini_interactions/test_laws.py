"""The laws of a transpiler, for this format."""

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Citation, Message, ModelCall, OutputSchema, Part, ReasoningPart, TextPart, ToolCall
from abstractcore.testing import check_call_losses, check_encode_again, check_laws
from abstractcore_providers.formats.gemini_interactions import GeminiInteractions
from tests.properties import examples
from tests.providers.formats.gemini_interactions import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive


def test_laws_hold():
    check_laws(
        GeminiInteractions(),
        generated.PROVIDER,
        calls=generated.calls(),
        replies=generated.replies(),
        max_examples=40,
    )


@pytest.mark.parametrize("first", [TextPart("a"), ToolCall("c1", "f"), ReasoningPart("Hm.", origin="here")])
@pytest.mark.parametrize("origin", [None, "here"])
def test_losses_of_a_citation_after_redacted_reasoning_are_named_by_their_part(first: Part, origin: str | None):
    parts = (first, ReasoningPart("", redacted_data="r", origin=origin), TextPart("b", (Citation("s", quote="q"),)))
    answered = [Message.tool("c1", "r")] if isinstance(first, ToolCall) else []
    messages = (Message.user("hi"), Message("assistant", parts), *answered)
    call = ModelCall("m", messages, generated.PROVIDER)
    check_call_losses(GeminiInteractions(), call)
    check_encode_again(GeminiInteractions(), call)


@examples(40)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), generated.PROVIDER, output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        GeminiInteractions().encode(call)
    except InvalidInputError as error:
        assert error.path == "messages" or "provider_options." in error.path or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert "no field for any part" in error.message  # noqa: PT017
