"""`VendorProvider`: what the providers of all vendors share, with the one `connect`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from abstractcore.errors import ConfigurationError
from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderServices, ProviderSession, Terms
from abstractcore.schema import EMPTY

from ..common.call_options import region_of_host, request_terms
from ..common.endpoints import (
    FixedEndpoint,
    base_url,
    check_filled,
    check_setting_names,
    filled_url,
    key_auth,
    listing_hint,
    url_variable,
)

if TYPE_CHECKING:
    from abstractcore.ports import CostReport

_USUAL_URL = "http://localhost:8000/v1"


class VendorProvider(ABC):
    """A provider of models with a vendor's HTTP API. A vendor's class sets the attributes and makes the `session`.

    `default_url` None means that the user passes `base_url`; "{AWS_REGION}" in it is an environment variable.
    `url_variable` is the environment variable from which the vendor's own client reads the address, `url_path` the path
    that this client appends to it, or under which all servers of this kind have the API. The key is read from
    `key_variable`, else from `other_key_variables`, and sent in `key_header`, or as a bearer token without one;
    `headers` are sent with every request. `example_model` is for error messages, if there are no `model_examples`.
    """

    __slots__ = ()

    name: str
    summary: str
    options: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    model_examples: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    example_model: str = ""
    default_url: str | None
    url_variable: str = ""
    url_path: str = ""
    key_variable: str
    other_key_variables: tuple[str, ...] = ()
    key_needed: bool = True
    key_header: str | None = None
    headers: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """Returns a session; raises `ConfigurationError` without a model or an address, and for invalid settings,
        `AuthenticationError` without a key. No I/O but the catalogue's.
        """
        model = self.model_name(config)
        endpoint = self.endpoint(config, services.environment)
        terms = partial(request_terms, self.name, Terms(region=self.region(model, endpoint, config)))
        profile = services.catalogue.profile(self.name, model)
        if profile.settings:
            check_setting_names(profile.settings, self.setting_names(), self.name)
        hint = self.models_hint(endpoint)
        if hint:  # the vendor's models are others
            profile = replace(profile, similar=())
        session = self.session(model, endpoint, config, profile)
        return replace(session, terms=terms, models_hint=hint)

    def models_hint(self, endpoint: Endpoint) -> str:
        """Returns how to list the models of a server that is not the vendor's; "" for the vendor's own."""
        if self.default_url is None and self.key_needed:  # each account of the vendor has another address
            return ""
        return listing_hint(self.name, endpoint, self.default_url, self.url_path)

    def setting_names(self) -> frozenset[str]:
        """Returns the names of the `settings` of models that the wire format applies; empty if it has none."""
        return frozenset()

    def cost_report(self) -> CostReport | None:
        """Returns the vendor's report of what an account was billed; None if it has none that is read here."""
        from .cost_reports import COST_REPORTS

        return COST_REPORTS.get(self.name)

    @abstractmethod
    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        """Returns a session: the vendor's wire format, and the profile of the model's family. `profile` is
        what the catalogue knows about the model.

        A format of its own and its table of models are imported here, credentials of its own in `endpoint`: listing the
        providers should load none of them.
        """

    def region(self, model: str, endpoint: Endpoint, config: ProviderConfig) -> str | None:
        """Returns where requests are processed, as far as it changes prices; None where the vendor decides."""
        return region_of_host(endpoint, self.default_url)

    def model_name(self, config: ProviderConfig) -> str:
        """Returns the model of the user's settings; raises `ConfigurationError` without one."""
        if config.model:
            return config.model
        example = next(iter(self.model_examples.values()), self.example_model or "...")
        raise ConfigurationError(
            f"{self.name!r} needs a model's name.", hint=f"For example: create_llm({self.name!r}, model={example!r})."
        )

    def endpoint(self, config: ProviderConfig, environment: Mapping[str, str]) -> Endpoint:
        """Returns the address with the credentials for it."""
        default = filled_url(self.default_url, environment)
        url = base_url(config, environment, self.url_variable, default=default, path=self.url_path)
        if url is None:
            hint = f"For example: base_url={_USUAL_URL!r}."
            if self.url_variable:
                hint = f"Set {self.url_variable}, or pass base_url='https://HOST{self.url_path}'."
            raise ConfigurationError(f"{self.name!r} needs an address.", hint=hint)
        check_filled(url, self.name)
        keys, header = (self.key_variable, *self.other_key_variables), self.key_header
        auth = key_auth(config, environment, *keys, header=header, needed=self.key_needed, more=self.headers)
        source = url_variable(config, environment, self.url_variable)
        return FixedEndpoint.at(url, auth, default or _USUAL_URL, variable=source)


def with_encodable(profile: ModelProfile, encodable: frozenset[str]) -> ModelProfile:
    """Returns the profile with the files that the wire format supports, if the model is unknown."""
    return profile if profile.known else replace(profile, encodable=encodable)
