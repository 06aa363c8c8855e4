"""The types of the schema that errors carry, for the annotations of `AbstractCoreError`.

The schema raises errors, and errors carry its data: this circle, of types only, is cut here.
"""

from .lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .schema import (
        AttemptRecord as AttemptRecord,
    )
    from .schema import (
        ModelReply as ModelReply,
    )
    from .schema import (
        OutputAttempt as OutputAttempt,
    )
    from .schema import (
        ToolLoop as ToolLoop,
    )
