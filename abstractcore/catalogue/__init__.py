"""Facts about models: files of rows are read, merged with the user's own, and looked up by name. Knows no vendor."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalogue import FileCatalogue
    from .documents import Document, document, read_document
    from .entries import ModelEntry
    from .facts import overridden
    from .price_rows import PriceHeader, PriceRow, read_price_rows
    from .pricing import ModelPricing
    from .provider_file import CatalogueProvider
    from .provider_models import ProviderModels
    from .toml_documents import read_toml

__all__ = [
    "CatalogueProvider",
    "Document",
    "FileCatalogue",
    "ModelEntry",
    "ModelPricing",
    "PriceHeader",
    "PriceRow",
    "ProviderModels",
    "document",
    "overridden",
    "read_document",
    "read_price_rows",
    "read_toml",
]

_MODULES = {
    "Document": "documents",
    "FileCatalogue": "catalogue",
    "ModelEntry": "entries",
    "ModelPricing": "pricing",
    "PriceHeader": "price_rows",
    "PriceRow": "price_rows",
    "CatalogueProvider": "provider_file",
    "ProviderModels": "provider_models",
    "document": "documents",
    "overridden": "facts",
    "read_document": "documents",
    "read_price_rows": "price_rows",
    "read_toml": "toml_documents",
}
"""Modules are imported on first access: a scripted model needs prices alone."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
