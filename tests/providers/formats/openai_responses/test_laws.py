"""The laws of a transpiler, for this format."""

from functools import partial
from typing import Any

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, ModelReply, OutputSchema, TextPart
from abstractcore.testing import check_laws, check_render_again, check_reply_losses, check_stream
from abstractcore_providers.formats.openai_responses import OpenAIResponses
from tests.properties import examples
from tests.providers.formats.openai_responses import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive

check_responses = partial(check_laws, max_examples=40)


def test_laws_hold():
    check_responses(OpenAIResponses(), generated.PROVIDER, calls=generated.calls(), replies=generated.replies())


@examples(60)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), generated.PROVIDER, output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        OpenAIResponses().encode(call)
    except InvalidInputError as error:
        assert error.path.startswith("provider_options.") or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert "no field for any part" in error.message  # noqa: PT017


@pytest.mark.parametrize(
    "metadata",
    [
        {"error": []},
        {"status": "x", "a": 1},
        {"created_at": 0},
        {"created_at": 5},
        {"metadata": {}},
        {"metadata": {"a": 1}},
        {"logprobs": [{"token": "a"}], "id": "x"},
        {"logprobs": []},
    ],
)
@pytest.mark.parametrize("parts", [(TextPart("a"),), ()])
def test_laws_hold_for_metadata_with_names_of_the_format(metadata: Any, parts: Any):
    reply = ModelReply(parts, "stop", model="m", provider=generated.PROVIDER, provider_metadata=metadata)
    check_reply_losses(OpenAIResponses(), reply)
    check_render_again(OpenAIResponses(), reply)
    check_stream(OpenAIResponses(), reply)
