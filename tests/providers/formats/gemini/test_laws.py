"""The laws of a transpiler, for this format in two dialects."""

import pytest
from hypothesis import example, given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import Message, ModelCall, OutputSchema
from abstractcore.testing import check_laws
from abstractcore_providers.formats.gemini import Gemini, GenerateContentDialect
from tests.properties import examples
from tests.providers.formats.gemini import generated
from tests.providers.refusals import is_of_a_schema

pytestmark = pytest.mark.exhaustive


def test_laws_hold():
    check_laws(Gemini(), "google", calls=generated.calls(), replies=generated.replies(), max_examples=40)


def test_laws_hold_on_vertex_for_signed_calls_and_moved_files():
    vertex = Gemini(
        GenerateContentDialect(
            "vertex", media_in_results=frozenset(), signed_calls=True, publisher="google", parent="projects/p"
        )
    )
    check_laws(vertex, "vertex", calls=generated.calls("vertex"), replies=generated.replies("vertex"), max_examples=15)


@examples(40)
@given(generated.calls())
@example(ModelCall("m", (Message.user("hi"),), "google", output=OutputSchema("o", {"then": 0})))
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        Gemini().encode(call)
    except InvalidInputError as error:
        odd = error.path == "messages" or "must follow a user turn" in error.message
        assert odd or "provider_options." in error.path or is_of_a_schema(error)  # noqa: PT017
    except UnsupportedContentError as error:
        assert "no field for any part" in error.message  # noqa: PT017
