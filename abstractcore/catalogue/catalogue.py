"""`FileCatalogue`: facts about models, in one file a provider and one file of the user's.

Where the user's files are: own facts, and later versions of the provider files. `DeferredPricing`: prices that are
read when a cost is first computed, which most programs never ask for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..ports import BilledResponse, CatalogueFile, Charge, ModelProfile, Pricing
from ..schema.base_error import one_line
from ..user_folders import data_folder, exists, user_file_path
from .documents import Document, read_document
from .provider_file import CatalogueProvider
from .provider_models import ProviderModels
from .rows import ModelEntry

if TYPE_CHECKING:
    from .pricing import ModelPricing
    from .updates import CatalogueChange
    from .user_file import UserFile


def updates_folder() -> Path:
    """Returns the folder of later versions of the provider files: `catalogue` in the user's data folder."""
    return data_folder() / "catalogue"


class DeferredPricing:
    """The pricing that `make` returns, called at the first charge. `make` must not raise."""

    def __init__(self, make: Callable[[], Pricing]) -> None:
        self._make = make
        self._pricing: Pricing | None = None

    def charge(self, response: BilledResponse) -> Charge:
        """Returns the cost of one response."""
        if self._pricing is None:
            self._pricing = self._make()
        return self._pricing.charge(response)


_LONGEST_WARNING = 1000


class FileCatalogue:
    """Facts about models, by provider and name. A file is read when the first model of its provider is looked up.

    `files` returns the files by provider. A later version of one in the folder `updates`, by default in the user's data
    folder, replaces it. Facts in the user's own file win: `user_file`, by default the one that `environment` names, or
    `models.toml` in the user's configuration folder. A provider without a file knows no models. `time` returns seconds
    since the epoch, for models that another one answers for from a day on. Methods raise `ConfigurationError` for a
    file with an error; one in the user's tables of a provider is raised for that provider, and `notify` is called for
    others, which logs a warning by default.
    """

    def __init__(
        self,
        files: Callable[[], Mapping[str, CatalogueFile]],
        environment: Mapping[str, str],
        *,
        user_file: Path | None = None,
        updates: Path | None = None,
        time: Callable[[], float] = time,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self._files = files
        self._environment = environment
        self._user_path = user_file
        self._updates = updates
        self._time = time
        self._providers: dict[str, ProviderModels] = {}
        self._user: dict[Path, UserFile | None] = {}
        self._notify = notify or _log
        self._notified: set[str] = set()

    @property
    def user_path(self) -> Path:
        """The path of the user's own file, which need not exist."""
        return self._user_path or user_file_path(self._environment)[0]

    @property
    def updates(self) -> Path:
        """The folder of later versions of the providers' files."""
        return self._updates or updates_folder()

    @property
    def providers(self) -> list[str]:
        """The providers with a file or with rows of the user's, sorted."""
        return sorted({*self._files(), *self.user_providers})

    @property
    def user_providers(self) -> frozenset[str]:
        """The providers of the user's rows."""
        user = self._user_file()
        return user.providers if user else frozenset()

    def profile(self, provider: str, model: str) -> ModelProfile:
        """Returns the profile of a model; that of an unknown model is not `known`, and names similar ones."""
        models = self.models(provider)
        profile = models.entry(model).profile
        return profile if profile.known else replace(profile, similar=models.similar(model))

    def pricing(self, provider: str, model: str) -> DeferredPricing:
        """Returns the prices of a model, and of those that the provider may answer with instead.

        They are read when a cost is first computed: of an invalid one, the cost is unknown, with the error as the
        reason. The user's own prices of `model` are read now.
        """
        models = self.models(provider)
        if models.has_own_row(model):
            models.price_rows(model)
        return DeferredPricing(lambda: _model_pricing(provider, model, models))

    def entry(self, provider: str, model: str) -> ModelEntry:
        """Returns all that is known about a model."""
        return self.models(provider).entry(model)

    def models(self, provider: str) -> ProviderModels:
        """Returns the models of a provider."""
        found = self._providers.get(provider)
        if found is None:
            user = self._user_file()
            if user is not None and user.errors:
                self._warn(user, provider)
            found = ProviderModels(provider, self.file(provider), user, self._time)
            found = self._providers.setdefault(provider, found)
        return found

    def file(self, provider: str) -> CatalogueProvider | None:
        """Returns the later one of the registered file and the one in the folder of updates; None without the first."""
        registered = self._files().get(provider)
        if registered is None:
            return None
        file = CatalogueProvider(read_document(registered.file), provider)
        return _later(file, self._update_of(provider))

    def update(self, files: Mapping[str, Document]) -> list[CatalogueChange]:
        """Puts later versions of the registered files into the folder of updates; returns the changes to each file.

        A damaged file there is replaced, whatever its day. This catalogue keeps what it has read. Raises
        `ConfigurationError` for an invalid new file; then nothing is changed.
        """
        from .updates import update_files

        registered = self._files()
        present = {name: CatalogueProvider(read_document(each.file), name) for name, each in registered.items()}
        damaged: set[str] = set()
        for name, file in present.items():
            try:
                updated = self._update_of(name)
                if updated is not None:
                    ProviderModels(name, updated, None).check()
            except ConfigurationError:
                damaged.add(name)
            else:
                present[name] = _later(file, updated)
        return update_files(files, present, damaged, self.updates)

    def _update_of(self, provider: str) -> CatalogueProvider | None:
        path = self.updates / f"{provider}.jsonl"
        if not exists(path):
            return None
        advice = f"Delete {path}, or run `abstractcore catalogue update`."
        try:
            found = read_document(path)
        except ConfigurationError as error:
            error.hint = advice
            raise
        return CatalogueProvider(found._replace(advice=advice), provider)

    def _warn(self, user: UserFile, provider: str) -> None:
        """Notifies of the user's tables of other providers that cannot be read, once for each."""
        for name, error in user.errors.items():
            if name != provider and name not in self._notified:
                self._notified.add(name)
                self._notify(f"{error} The models of {name} cannot be used until it is mended.")

    def _user_file(self) -> UserFile | None:
        path, named = self.user_path, self._user_path is not None or user_file_path(self._environment)[1]
        if path not in self._user:
            self._user.setdefault(path, _read_user_file(path) if named or exists(path) else None)
        return self._user[path]


def _log(problem: str) -> None:
    """Logs a warning: a call of another provider has no other place for it."""
    logging.getLogger("abstractcore").warning("%s", one_line(problem, _LONGEST_WARNING))


def _model_pricing(provider: str, model: str, models: ProviderModels) -> ModelPricing:
    from .pricing import ModelPricing

    return ModelPricing(provider, model, models.price_rows, models.are_variants)


def _read_user_file(path: Path) -> UserFile:
    from .user_file import UserFile  # imports tomllib, which few programs need

    return UserFile(read_document(path))


def _later(file: CatalogueProvider, updated: CatalogueProvider | None) -> CatalogueProvider:
    return updated if updated is not None and _as_of(updated) > _as_of(file) else file


def _as_of(file: CatalogueProvider) -> date:
    return file.header.as_of or date.min
