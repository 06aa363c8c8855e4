"""`Preset`: a vendor whose API is compatible with OpenAI's chat completions, as a row of data.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..common.media_types import with_images
from ..formats.openai_chat import ENCODABLE, Dialect, OpenAIChat
from .models.family import ModelFamily, find_family
from .vendor_provider import VendorProvider


@dataclass(frozen=True, slots=True)
class Preset(VendorProvider):
    """An OpenAI-compatible vendor: the address and the key are described at `VendorProvider`.

    Of `families`, the first row that fits a model counts. `accepts_prefill` and `media_after_results` go into the
    profile of every model. `assumed` are the files that are sent natively to a model of no known family, `images` the
    media types that "image" stands for. With `names_are_free`, users name their models, and unknown names cause no
    warning. `model_examples` are prefixes of names that only this vendor's models have, each with an example.
    """

    name: str
    summary: str
    default_url: str | None
    key_variable: str
    key_needed: bool = True
    url_variable: str = ""
    url_path: str = ""
    dialect: Dialect = field(default_factory=Dialect)
    families: tuple[ModelFamily, ...] = ()
    assumed: frozenset[str] = frozenset({"image"})
    images: frozenset[str] = frozenset({"image"})
    names_are_free: bool = False
    model_examples: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    accepts_prefill: bool = True
    media_after_results: bool = True

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        family = find_family(model, self.families)
        return ProviderSession(model, OpenAIChat(self.dialect), endpoint, self._profile(family.profile))

    def _profile(self, found: ModelProfile) -> ModelProfile:
        """Returns a family's profile with what is the same for all of the vendor's models."""
        if not found.known:
            known = self.names_are_free
            found = replace(found, assumed=self.assumed, encodable=ENCODABLE, cache_points=0, known=known)
        return replace(
            found,
            accepts=with_images(found.accepts, self.images),
            assumed=with_images(found.assumed, self.images),
            encodable=with_images(found.encodable, self.images),
            accepts_prefill=self.accepts_prefill,
            media_after_results=self.media_after_results,
        )
