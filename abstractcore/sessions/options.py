"""The options of a session: their types and descriptions, for `help` and editors."""

from __future__ import annotations

from ..client.options import CallRequest
from .compaction import CompactMode


class SessionOptions(CallRequest, total=False):
    """The keyword arguments of `llm.session`, `Session.open` and `Session.load`: those of every call, and how the
    history is kept.
    """

    fill: float
    """The share of the model's context that a call may fill before the history is compacted; default 0.8."""
    compact: CompactMode
    """How the oldest exchanges are compacted: "summary" asks the model for one, "drop" leaves them out; or a function
    of the oldest messages that returns a text or messages; None leaves all as it is; default "summary"."""
    keep_partial: bool
    """Whether what had arrived of a call that failed or was left is kept; default False."""


OWN_OPTIONS = ("fill", "compact", "keep_partial", "system_prompt", "tools", "run_tools")
"""What is not passed on to each call as it is."""
