"""Conversations that last: `Session` keeps them in memory or in a file, and their context within the model's."""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .basic import BasicSession as BasicSession
    from .compaction import CompactFunction as CompactFunction, CompactMode as CompactMode
    from .documents import OpenAIMessages as OpenAIMessages
    from .handles import RECALL as RECALL
    from .history import (
        SessionExchange as SessionExchange,
        SessionUsage as SessionUsage,
    )
    from .options import SessionOptions as SessionOptions
    from .session import Session as Session
    from .stored import SessionSummary as SessionSummary, remove_session as remove_session
