"""The laws of a transpiler, for this format in two dialects."""

from hypothesis import given

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import ModelCall
from abstractcore.testing import check_laws
from abstractcore_providers.gemini import Dialect, Gemini
from tests.properties import examples
from tests.providers.gemini import made


def test_the_laws_hold():
    check_laws(Gemini(), "google", calls=made.calls(), replies=made.replies(), max_examples=40)


def test_the_laws_hold_for_models_that_take_files_beside_results_only():
    vertex = Gemini(Dialect("vertex", media_in_results=False, count_wrapped=False))
    check_laws(vertex, "vertex", calls=made.calls("vertex"), replies=made.replies("vertex"), max_examples=15)


@examples(40)
@given(made.calls())
def test_most_calls_are_not_refused(call: ModelCall):
    """A format that refused everything would keep the laws."""
    try:
        Gemini().encode(call)
    except InvalidInputError as error:
        assert error.path.startswith("provider_options.")  # noqa: PT017
    except UnsupportedContentError as error:
        assert "no place for any part" in error.message  # noqa: PT017
