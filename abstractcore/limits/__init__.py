"""Limits on how many calls begin, how many tokens they have, and how many run at once: calls wait for their turn.

A call without limits imports nothing of this.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .counting import LimitReached as LimitReached, Numbers as Numbers
from .limits import Limits as Limits, LimitsState as LimitsState

with _LazyImports(globals()):
    from .leases import SCHEMA as SCHEMA, CallLeases as CallLeases
    from .pacing import flush as flush
