"""The laws of a transpiler, for this format."""

from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, OutputSchema
from abstractcore.testing import check_laws
from abstractcore_providers.formats.gemini_interactions import GeminiInteractions
from tests.properties import examples
from tests.providers.formats.gemini_interactions import generated
from tests.providers.refusals import is_of_a_schema


def test_laws_hold():
    check_laws(
        GeminiInteractions(),
        generated.PROVIDER,
        calls=generated.calls(),
        replies=generated.replies(),
        max_examples=40,
    )


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
