"""Tables of models: what each family can do and what it refuses, one row (`ModelFamily`) a family."""
