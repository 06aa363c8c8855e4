"""The laws of a transpiler, for this format; and every request is one that the vendor's own client would send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import ModelCall
from abstractcore.testing import check_laws
from abstractcore_providers.bedrock_converse import BedrockConverse
from tests.properties import examples
from tests.providers.bedrock_converse import made
from tests.providers.bedrock_converse.wire import CONVERSE, faults

MODELS = {
    "anthropic": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "newest": "us.anthropic.claude-opus-5-5",
    "amazon": "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-2-lite-v1:0",
    "openai": "openai.gpt-oss-120b-1:0",
    "other": "meta.llama3-70b-instruct-v1:0",
}


def test_the_laws_hold():
    check_laws(BedrockConverse(), "bedrock", calls=made.calls(), replies=made.replies(), max_examples=20)


@pytest.mark.parametrize("maker", MODELS)
def test_the_laws_hold_for_models_of_every_maker(maker: str):
    calls = made.calls(st.just(MODELS[maker]))
    check_laws(BedrockConverse(), "bedrock", calls=calls, replies=made.replies(), max_examples=6)


def test_most_calls_are_not_refused():
    """A format that refused everything would keep the laws."""
    refused: list[bool] = []

    @examples(30)
    @given(made.calls())
    def encode(call: ModelCall) -> None:
        try:
            CONVERSE.encode(call)
        except (InvalidInputError, UnsupportedContentError):
            refused.append(True)
        else:
            refused.append(False)

    encode()
    assert sum(refused) < len(refused) / 2


@examples(30)
@given(made.calls(optioned=False))
def test_every_request_fits_the_vendors_model(call: ModelCall):
    call = call.with_(provider_options={})
    try:
        requests = [CONVERSE.encode(call).request, CONVERSE.encode_count(call).request]
    except (InvalidInputError, UnsupportedContentError):
        return
    for request in requests:
        assert not faults(request)
