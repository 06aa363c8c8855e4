"""The hint for a wrong base URL of a server with OpenAI's formats."""

RIGHT_ADDRESS = "Does base_url point to the API, including /v1?"
"""The hint where something other than the API answers."""
