"""Where servers and models of this format differ, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One vendor's way of speaking the format.

    `provider` is the name under which `provider_options` are looked up. With `media_in_results`, images and documents
    stand in the result of a tool itself, as models since Gemini 3 take them; else beside it, in the same message.
    `signed_calls` says that a turn's first tool call must have a signature, as those models want it. `count_wrapped`
    says that tokens are counted of a whole request in a field of its own, as the Gemini API has it.

    Where models stand below a `publisher`, as on Vertex AI, this one's are meant by a bare name. `parent` is what
    names of resources begin with there, as in `projects/p/locations/l`.
    """

    provider: str = "google"
    media_in_results: bool = True
    signed_calls: bool = False
    count_wrapped: bool = True
    publisher: str = ""
    parent: str = ""
