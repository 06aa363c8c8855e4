"""The laws of a transpiler, for this format in three dialects."""

from functools import partial

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, OutputSchema
from abstractcore.testing import check_laws, strategies
from abstractcore_providers.formats.openai_chat import ChatDialect, OpenAIChat
from abstractcore_providers.formats.openai_chat.dialect import COMPATIBLE, LLAMA_CPP
from tests.properties import examples
from tests.providers.formats.openai_chat import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive

check_chat = partial(check_laws, max_examples=60)


def test_laws_hold():
    check_chat(OpenAIChat(), "openai", calls=generated.calls(), replies=generated.replies())


@pytest.mark.parametrize("dialect", [COMPATIBLE, LLAMA_CPP], ids=lambda dialect: dialect.provider)
def test_laws_hold_in_other_dialects(dialect: ChatDialect):
    calls = strategies.calls(dialect.provider, generated.content(), strategies.text_parts())
    check_laws(OpenAIChat(dialect), dialect.provider, calls=calls, max_examples=15)


@examples(60)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), "openai", output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        OpenAIChat().encode(call)
    except InvalidInputError as error:
        assert error.path.startswith("provider_options.") or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert "no field for any part" in error.message  # noqa: PT017
