"""Rules of models: what they refuse, alone or in combination, and the changed call that they accept."""
