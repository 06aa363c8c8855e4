"""The laws of a transpiler, for this format, with and without a context size."""

from functools import partial

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, OutputSchema
from abstractcore.testing import check_laws
from abstractcore_providers.formats.ollama import OllamaChat
from tests.properties import examples
from tests.providers.formats.ollama import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive

check_ollama = partial(check_laws, provider="ollama", calls=generated.calls(), replies=generated.replies())


def test_laws_hold():
    check_ollama(OllamaChat(), max_examples=30)


def test_laws_hold_with_a_context_size():
    check_ollama(OllamaChat(context_size=8192), max_examples=10)


@examples(60)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), "ollama", output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        OllamaChat().encode(call)
    except InvalidInputError as error:
        assert error.path.startswith("provider_options.") or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert call.hosted_tools or "no field for any part" in error.message  # noqa: PT017
