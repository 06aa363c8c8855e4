"""What server processes share in a database: keys, and the leases by which keys are limited. Needs SQLAlchemy."""

from .keys import IssuedKey, Key, KeyLimits, Keys
from .leases import Leases, Refusal
from .store import Store, StoreUnavailable, default_file

__all__ = ["IssuedKey", "Key", "KeyLimits", "Keys", "Leases", "Refusal", "Store", "StoreUnavailable", "default_file"]
