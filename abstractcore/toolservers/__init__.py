"""What tool servers have in common: `ToolServerBase` for `MCPTools`, and for sources of other protocols in plugins."""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from ..proxies import environment_proxy as environment_proxy
    from ..schema.base_error import one_line as one_line, shown as shown
    from ..scrubbing import Secrets as Secrets
    from ..tools.names import checks_option_names as checks_option_names, nearest_name as nearest_name
    from .base import (
        Headers as Headers,
        ToolServerBase as ToolServerBase,
        check_flag as check_flag,
        check_positive as check_positive,
    )
    from .connection_pool import ServerConnection as ServerConnection
    from .definitions import (
        UNTRUSTED_AND_SENDS as UNTRUSTED_AND_SENDS,
        Definition as Definition,
        Labels as Labels,
        Prices as Prices,
        cleaned as cleaned,
        cleaned_name as cleaned_name,
        cleaned_schema as cleaned_schema,
        labels_of as labels_of,
        unused_patterns as unused_patterns,
    )
