"""One request as calls of the models that may answer it, and their replies as the client's API has them."""
