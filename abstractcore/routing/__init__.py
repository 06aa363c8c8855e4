"""Several models behind one name: who is asked first, who instead, and who is left alone for a while.

It knows no provider and no wire format: the caller asks a member.
"""

from ..lazy_modules import LazyImports as _LazyImports
from .options import Member as Member, Order as Order, Routing as Routing

with _LazyImports(globals()):
    from .causes import Cause as Cause, cause_of as cause_of
    from .router import RoutedAnswer as RoutedAnswer, RoutedCall as RoutedCall, Router as Router
