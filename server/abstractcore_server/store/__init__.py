"""What server processes share in a database: keys, responses, conversations, files and uploads. Needs SQLAlchemy."""

from .keys import AccessKey, IssuedKey, KeyLimits, Keys
from .tables import Store, default_file

__all__ = ["AccessKey", "IssuedKey", "KeyLimits", "Keys", "Store", "default_file"]
