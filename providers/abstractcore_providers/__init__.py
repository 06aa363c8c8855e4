"""Wire formats as pure transpilers, vendors as rows, and the embedded model."""
