"""What server processes share in a database: keys, and the leases by which keys are limited. Needs SQLAlchemy."""

from .call_leases import CallLeases, LimitReached
from .keys import IssuedKey, Key, KeyLimits, Keys
from .tables import Store, default_file

__all__ = ["CallLeases", "IssuedKey", "Key", "KeyLimits", "Keys", "LimitReached", "Store", "default_file"]
