"""The laws of a transpiler, for this format."""

from functools import partial

from hypothesis import given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import ModelCall
from abstractcore.testing import check_laws
from abstractcore_providers.openai_responses import OpenAIResponses
from tests.properties import examples
from tests.providers.openai_responses import made

check_responses = partial(check_laws, max_examples=60)


def test_the_laws_hold():
    check_responses(OpenAIResponses(), made.PROVIDER, calls=made.calls(), replies=made.replies())


@examples(60)
@given(made.calls())
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        OpenAIResponses().encode(call)
    except InvalidInputError as error:
        assert error.path.startswith("provider_options.")  # noqa: PT017
    except UnsupportedContentError as error:
        assert "no place for any part" in error.message  # noqa: PT017
