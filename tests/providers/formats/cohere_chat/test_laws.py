"""The laws of a transpiler, for this format."""

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, OutputSchema
from abstractcore.testing import check_laws
from abstractcore_providers.formats.cohere_chat import CohereChat
from tests.properties import examples
from tests.providers.formats.cohere_chat import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive


def test_laws_hold():
    check_laws(CohereChat(), "cohere", calls=generated.calls(), replies=generated.replies(), max_examples=30)


@examples(60)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), "cohere", output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        CohereChat().encode(call)
    except InvalidInputError as error:
        assert error.path.startswith("provider_options.") or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert call.hosted_tools or "no field for any part" in error.message  # noqa: PT017
