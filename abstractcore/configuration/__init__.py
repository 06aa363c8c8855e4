"""The user's `config.toml`: named LLMs, how providers are reached, policies for files; and tables of any TOML file."""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .reading import (
        check_policy as check_policy,
        read_configuration as read_configuration,
        read_routing as read_routing,
    )
    from .settings import (
        Configuration as Configuration,
        ConfiguredAuto as ConfiguredAuto,
        ConfiguredBudget as ConfiguredBudget,
        ConfiguredLimits as ConfiguredLimits,
        ConfiguredLLM as ConfiguredLLM,
        ConfiguredProvider as ConfiguredProvider,
        ConfiguredRouting as ConfiguredRouting,
    )
    from .tables import (
        InvalidConfigurationError as InvalidConfigurationError,
        Problems as Problems,
        Table as Table,
        from_environment as from_environment,
        place_of as place_of,
    )
