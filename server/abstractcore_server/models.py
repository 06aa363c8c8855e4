"""`LLMs`: the models that clients may call, by their names; `BackendModels`: those of backends. One `LLM` is shared by
all calls of a model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import abstractcore
from abstractcore.catalogue import FileCatalogue
from abstractcore.errors import AuthenticationError, ConfigurationError, MissingExtraError, ModelNotFoundError
from abstractcore.ports import CapabilityName
from abstractcore.registry import did_you_mean, nearest_names
from abstractcore.routing import Router
from abstractcore.stores.models import PACKAGED_MODELS

from .calls.passthrough import PassThrough
from .configuration.settings import OnDisconnect, ProviderSettings, Settings

DEFAULT = "default"
"""The name of the default model."""
_EMBEDDED = "local"
_ONLY_NAMED = (
    "Of the models on this machine, it has 'default' and those that [providers.local] of its configuration names."
)
_VENDOR = "openai"
"""Whose backends clients of OpenAI's API name without a provider."""
HIDDEN = frozenset({"scripted"})
"""Providers that no client can use."""
LONGEST_NAME = 200
"""How many characters of a name are read."""
_MOST_LLMS = 512
"""How many LLMs are kept: clients choose their names."""
_UNSET = ProviderSettings()


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """What a client's name for a model stands for: `llms`, of which `router` asks one after the other until one
    answers. One model has none.

    `name` is the one that it is listed under, `asked` the client's own: "default" is listed under both.
    """

    name: str
    asked: str
    llms: tuple[abstractcore.LLM, ...]
    on_disconnect: OnDisconnect = "cancel"
    router: Router[abstractcore.LLM] | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names by which keys, guards and MCP servers may be for it."""
        return self.asked if self.asked == DEFAULT else self.name, self.name


class LLMs:
    """Finds models by the names that clients use: one of the configuration, "provider/model", "default", or the bare
    name of a model that a vendor of the client's API has.

    `given` are LLMs of the program that runs the server, by their names.
    """

    def __init__(
        self, settings: Settings, services: abstractcore.Services, given: Mapping[str, abstractcore.LLM]
    ) -> None:
        self._settings = settings
        self._services = services
        self._given = given
        self._llms: OrderedDict[tuple[str, str], abstractcore.LLM] = OrderedDict()
        self._default: abstractcore.LLM | None = None
        self._usable: dict[str, bool] = {}
        self._found: OrderedDict[tuple[str, Sequence[str]], ResolvedModel] = OrderedDict()
        self._routers: dict[str, Router[abstractcore.LLM]] = {}

    def find(self, name: str, vendors: Sequence[str] = ()) -> ResolvedModel:
        """Returns the model with a name; raises `ModelNotFoundError` with the nearest names.

        `vendors` are the providers whose models need no provider in their names, the first one first.
        """
        key = (name, tuple(vendors))
        resolved = self._found.get(key)
        if resolved is None:
            resolved = self._found[key] = self._resolve(name, vendors)
            if len(self._found) > _MOST_LLMS:
                self._found.popitem(last=False)
        return resolved

    def _resolve(self, name: str, vendors: Sequence[str]) -> ResolvedModel:
        group = self._settings.models.get(name)
        if group is None:
            llm = self.one(name, vendors)
            return ResolvedModel(self.name_of(llm, name), name, (llm,), self._of_provider(llm.provider).on_disconnect)
        llms = tuple(self.one(each, vendors) for each in group.models)
        drains = any(self._of_provider(llm.provider).on_disconnect == "drain" for llm in llms)
        router = self._routers.get(name)
        if router is None and len(llms) > 1:
            router = self._routers.setdefault(name, Router(llms, group.routing))
        return ResolvedModel(name, name, llms, "drain" if drains else "cancel", router)

    def given_llm(self, name: str) -> abstractcore.LLM | None:
        """Returns the LLM of the program, or the default one, with a name."""
        return self._given.get(name) or (self.default if name == DEFAULT else None)

    def target_of(self, name: str, vendors: Sequence[str] = ()) -> tuple[str, str]:
        """Returns the provider and the model that a name stands for, of several the first; raises
        `ModelNotFoundError`.
        """
        group = self._settings.models.get(name)
        if group is not None:
            name = group.models[0]
        llm = self.given_llm(name)
        if llm is not None:
            return llm.provider, llm.model
        provider, slash, model = name.partition("/")
        if not (slash and self._is_fronted(provider)):
            provider, model = self._owner(name, vendors) or "", name
        if not provider or not self._is_allowed(provider, model):
            known = (each for each in vendors if self._is_fronted(each) and not self.usable(each))
            vendor = next((each for each in known if self._knows(each, name)), None)
            raise self._unknown(name) if vendor is None else self._not_set_up(name, vendor)
        return provider, model

    def known_target_of(self, name: str, vendors: Sequence[str] = ()) -> tuple[str, str]:
        """Returns the result of `target_of` for a model that is known to exist if its name has no provider: a call of
        another one is sent to a vendor, which may have a model that is too new to be known.

        Raises `ModelNotFoundError`.
        """
        provider, model = self.target_of(name, vendors)
        if name != f"{provider}/{model}" and name not in self._settings.models and not self._knows(provider, model):
            raise self._unknown(name)
        return provider, model

    def name_of(self, llm: abstractcore.LLM, asked: str) -> str:
        """Returns the name that an LLM is listed under."""
        return asked if asked in self._given else f"{llm.provider}/{llm.model}"

    def one(self, name: str, vendors: Sequence[str] = ()) -> abstractcore.LLM:
        """Returns the LLM with a name, which is not the name of a group; raises `ModelNotFoundError`."""
        llm = self.given_llm(name)
        if llm is not None:
            return llm
        provider, model = self.target_of(name, vendors)
        return self._of(provider, model, name)

    @property
    def default(self) -> abstractcore.LLM:
        """The default model; raises `ConfigurationError` if it is not set up."""
        if self._default is None:
            self._default = self.default_with(middleware=[PassThrough()])
        return self._default

    def default_with(self, **more: Any) -> abstractcore.LLM:
        """Returns the default model with more options of `create_llm`; raises `ConfigurationError` if it is not set
        up.
        """
        chosen = self._settings.server.default
        options = self.options_of((chosen or _EMBEDDED).partition("/")[0])
        return abstractcore.create_llm(chosen, services=self._services, **{**options, **more})

    def _of(self, provider: str, model: str, name: str) -> abstractcore.LLM:
        """Returns the LLM of a model, which `name` stands for."""
        key = (provider, model)
        found = self._llms.get(key)
        if found is not None:
            self._llms.move_to_end(key)
            return found
        try:
            options = self.options_of(provider)
            found = abstractcore.create_llm(
                provider, model, services=self._services, middleware=[PassThrough()], **options
            )
        except MissingExtraError:
            raise
        except (AuthenticationError, ConfigurationError) as error:
            raise self._not_set_up(name, provider) from error
        self._llms[key] = found
        if len(self._llms) > _MOST_LLMS:
            self._llms.popitem(last=False)
        return found

    def options_of(self, provider: str) -> dict[str, Any]:
        """Returns the options of `create_llm` for a provider."""
        settings = self._of_provider(provider)
        options: dict[str, Any] = {**settings.options}
        if find_spec("aiohttp") is not None and provider != _EMBEDDED:
            options.setdefault("transport", "aiohttp")
        if settings.base_url is not None:
            options["base_url"] = settings.base_url
        if settings.api_key_env is not None:
            options["api_key"] = self._services.environment.get(settings.api_key_env, "")
        return options

    def _of_provider(self, provider: str) -> ProviderSettings:
        return self._settings.providers.get(provider, _UNSET)

    def _is_fronted(self, provider: str) -> bool:
        known = provider in self._services.registry.providers and provider not in HIDDEN
        return known and self._of_provider(provider).enabled

    def _is_allowed(self, provider: str, model: str) -> bool:
        """Whether clients may call a model. Of the models on this machine only the default one and configured ones:
        others would be downloaded, or read from a path.
        """
        if not is_plain(model):
            return False
        allowed = self._of_provider(provider).models
        if allowed:
            return model in allowed
        return provider != _EMBEDDED or (self.default.provider, self.default.model) == (provider, model)

    def usable(self, provider: str) -> bool:
        """Whether a provider is configured, or has its key in the environment."""
        if provider not in self._usable:
            self._usable[provider] = self._is_fronted(provider) and (
                provider in self._settings.providers or self._has_key(provider)
            )
        return self._usable[provider]

    def _has_key(self, provider: str) -> bool:
        """Whether the provider can be used with this environment, and not without it."""
        if provider == _EMBEDDED:
            return False
        without = abstractcore.Services(
            environment={}, registry=self._services.registry, catalogue=self._services.catalogue
        )
        return not self._connects(provider, without) and self._connects(provider, self._services)

    def _connects(self, provider: str, services: abstractcore.Services) -> bool:
        try:
            abstractcore.create_llm(provider, "any", services=services)
        except (AuthenticationError, ConfigurationError):
            return False
        return True

    def _owner(self, name: str, vendors: Sequence[str]) -> str | None:
        """Returns the usable provider that knows a model: one of `vendors`, or any other; else the first of `vendors`
        that is usable, for a model that is too new to be known.
        """
        usable = [each for each in vendors if self.usable(each)]
        others = [each for each in self._services.registry.providers if each not in usable and self.usable(each)]
        knowing = (each for each in (*usable, *others) if self._knows(each, name))
        return next(knowing, None if "/" in name else next(iter(usable), None))

    def _knows(self, provider: str, model: str) -> bool:
        if model in self._of_provider(provider).models:
            return True
        catalogue = self._services.catalogue
        return isinstance(catalogue, FileCatalogue) and catalogue.entry(provider, model).match == "model"

    def listed_names(self) -> list[str]:
        """Returns the names of all models: given and configured ones, the default one, those that usable providers are
        known to have.
        """
        names = dict.fromkeys([*self._given, *self._settings.models, DEFAULT])
        names[f"{self.default.provider}/{self.default.model}"] = None
        for provider in self._services.registry.providers:
            if self.usable(provider):
                names |= dict.fromkeys(f"{provider}/{model}" for model in self._models_of(provider))
        return list(names)

    def _models_of(self, provider: str) -> Sequence[str]:
        chosen = self._of_provider(provider).models
        if chosen:
            return chosen
        catalogue = self._services.catalogue
        if not isinstance(catalogue, FileCatalogue):
            return ()
        models = catalogue.models(provider)
        return [name for name in models.names if models.alias(name) is None]

    def _unknown(self, name: str) -> ModelNotFoundError:
        names = self.listed_names()
        bare = {each.partition("/")[2] or each: each for each in names}
        near = nearest_names(name[:LONGEST_NAME], names) or [
            bare[each] for each in nearest_names(name[:LONGEST_NAME], bare)
        ]
        is_local = name.partition("/")[0] == _EMBEDDED
        hint = did_you_mean(near) if near else _ONLY_NAMED if is_local else "GET /v1/models lists the models."
        return ModelNotFoundError(f"the model {name[:LONGEST_NAME]!r} does not exist here. {hint}")

    def _not_set_up(self, name: str, provider: str) -> ModelNotFoundError:
        return ModelNotFoundError(
            f"the model {name[:LONGEST_NAME]!r} cannot be used: {provider!r} is not set up on this server. "
            f"The server needs its key in the environment, or [providers.{provider}] in its configuration."
        )


def is_plain(model: str) -> bool:
    """Whether a name can be a part of an address without meaning another one."""
    return (
        0 < len(model) <= LONGEST_NAME
        and model.isprintable()
        and not set("?#%\\") & {*model}
        and not {"", ".", ".."} & {*model.split("/")}
    )


@dataclass(frozen=True, slots=True)
class BackendModel:
    """What a client's name for a model stands for: an LLM with the capability, the backend's model, None for its own
    choice, and the name to show.
    """

    capability: CapabilityName
    llm: abstractcore.LLM
    model: str | None
    name: str


class BackendModels:
    """Finds backends by the names that clients use: "default", "BACKEND", "BACKEND/MODEL", or the bare name of a model
    of OpenAI, if that is set up.
    """

    def __init__(self, settings: Settings, services: abstractcore.Services, llms: LLMs) -> None:
        self._settings = settings
        self._services = services
        self._llms = llms
        self._made: dict[tuple[str, str], abstractcore.LLM] = {}

    def find(self, capability: CapabilityName, name: str) -> BackendModel:
        """Returns the maker with a name; raises `ModelNotFoundError` with the nearest names."""
        if name == DEFAULT:
            return BackendModel(capability, self._llms.default, None, DEFAULT)
        backend, _, model = name.partition("/")
        known = self.names(capability)
        if backend in known and is_plain(name):
            return BackendModel(capability, self._with(capability, backend), model or None, name)
        if _VENDOR in known and "/" not in name and is_plain(name) and self._llms.usable(_VENDOR):
            return BackendModel(capability, self._with(capability, _VENDOR), name, f"{_VENDOR}/{name}")
        near = nearest_names(name[:200], [DEFAULT, *known])
        hint = did_you_mean(near) if near else f"There are: {', '.join([DEFAULT, *known])}."
        raise ModelNotFoundError(f"the model {name[:200]!r} does not exist here. {hint}")

    def listener(self, name: str) -> BackendModel:
        """Returns who transcribes, by a name: "default", a transcriber of this machine, or "PROVIDER/MODEL"; raises
        `ModelNotFoundError`.
        """
        if name == DEFAULT:
            return BackendModel("audio", self._llms.default, None, DEFAULT)
        local = [each.name for each in PACKAGED_MODELS if each.name.startswith("whisper-")]
        provider = name.partition("/")[0] if "/" in name else _VENDOR
        full = name if "/" in name else f"{_VENDOR}/{name}"
        if name in local:
            return BackendModel("audio", self._llms.default, name, name)
        if name.isprintable() and self._llms.usable(provider):
            (transcriber, *_) = self._llms.find(full).llms
            return BackendModel("audio", self._llms.default_with(transcription_model=transcriber), None, full)
        near = nearest_names(name[:200], [DEFAULT, *local])
        hint = did_you_mean(near) if near else f"There are: {', '.join([DEFAULT, *local])}, and PROVIDER/MODEL."
        raise ModelNotFoundError(f"the model {name[:200]!r} does not exist here. {hint}")

    def names(self, capability: CapabilityName) -> list[str]:
        """Returns the names of the backends of a capability."""
        return [entry.backend_id.rpartition(":")[2] for entry in self._services.registry.backends.of(capability)]

    def _with(self, capability: str, backend: str) -> abstractcore.LLM:
        found = self._made.get((capability, backend))
        if found is None:
            options: dict[str, Any] = {f"{capability}_backend": backend, **self._options(capability, backend)}
            found = self._llms.default_with(**options)
            self._made[capability, backend] = found
        return found

    def _options(self, capability: str, backend: str) -> dict[str, Any]:
        """Returns the address and the key of a vendor, which are those of its provider."""
        provider = self._settings.providers.get(backend)
        if provider is None:
            return {}
        key = provider.options.get("api_key")
        if provider.api_key_env is not None:
            key = self._services.environment.get(provider.api_key_env, "")
        given = {"base_url": provider.base_url, "api_key": key}
        return {f"{capability}_{name}": value for name, value in given.items() if value is not None}
