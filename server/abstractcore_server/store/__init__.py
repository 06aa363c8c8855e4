"""What server processes share in a database: keys with their leases, responses, conversations, files and uploads. Needs
SQLAlchemy.
"""

from .keys import AccessKey, CallLeases, IssuedKey, KeyLimits, Keys, LimitReached
from .tables import Store, default_file

__all__ = ["AccessKey", "CallLeases", "IssuedKey", "KeyLimits", "Keys", "LimitReached", "Store", "default_file"]
