"""Facts about models: files of rows are read, merged with the user's own, and looked up by name. Knows no vendor.

The rows themselves, with the prices, are in the folder `catalogue/` of the providers' package.

A scripted model needs prices alone: modules are imported on first use.
"""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .catalogue import FileCatalogue as FileCatalogue
    from .documents import (
        Document as Document,
        document as document,
        read_document as read_document,
    )
    from .rows import ModelEntry as ModelEntry
    from .facts import overridden as overridden
    from .price_rows import (
        PriceHeader as PriceHeader,
        PriceRow as PriceRow,
        read_price_rows as read_price_rows,
    )
    from .pricing import ModelPricing as ModelPricing
    from .provider_file import CatalogueProvider as CatalogueProvider
    from .provider_models import ProviderModels as ProviderModels
    from .documents import read_toml as read_toml
    from .updates import CatalogueChange as CatalogueChange, read_source as read_source
