"""Tools: functions that models call, the rules of their loop, and tools of models without native ones.

`engine/tool_rounds.py` runs the loop.

Modules that need pydantic are imported when a function becomes a tool.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .toolset import (
    ToolSet as ToolSet,
    tool_set as tool_set,
)

with _LazyImports(globals()):
    from .names import ArgumentsError as ArgumentsError, PreparedArguments as PreparedArguments
    from .execution import execute as execute
    from .long_results import READ_RESULT as READ_RESULT, shortened as shortened
    from .loop_rules import SEARCH_TOOLS as SEARCH_TOOLS, close_loop as close_loop
    from .results import (
        ToolOutput as ToolOutput,
        content_of as content_of,
    )
    from .toolset import ServedTools as ServedTools, ToolServer as ToolServer
    from .tool import (
        OnError as OnError,
        Tool as Tool,
        ToolOptions as ToolOptions,
        tool_of as tool_of,
    )
    from .toolset import ToolInput as ToolInput
