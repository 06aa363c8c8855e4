"""The provider `bedrock`: the region, the credentials and the session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from abstractcore.errors import ConfigurationError
from abstractcore.ports import Endpoint, KnownUrl, ModelProfile, ProviderConfig, ProviderSession

from ...common.endpoints import (
    BearerAuth,
    FixedEndpoint,
    base_url,
    check_key,
    key_hint,
    setting_names,
    url_variable,
    with_settings,
)
from ..vendor_provider import VendorProvider

if TYPE_CHECKING:
    from .signature import AwsKeys

_REGION = re.compile("[a-z0-9-]+")
_HOST = re.compile(r"(?:.*\.)?bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
"""The host of a region (docs.aws.amazon.com/general/latest/gr/bedrock), and of a VPC endpoint in it."""
_URL_VARIABLES = ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL")
_AREAS = frozenset({"global", "us", "us-gov", "eu", "apac", "jp", "au", "in", "ca", "sa"})
"""The prefixes of inference profiles (docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support)."""
_BEARER = "AWS_BEARER_TOKEN_BEDROCK"
_KEY_FIELDS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")


class BedrockProvider(VendorProvider):
    """Authenticates with a bearer token, an access key, or the credentials that botocore finds, in this order."""

    name = "bedrock"
    default_url = None
    summary = "Amazon Bedrock, Converse; the keys of a profile need the extra 'bedrock'"
    model_examples: Mapping[str, str] = {
        f"{beginning}{vendor}": example
        for beginning in ("", "us.", "eu.", "apac.", "global.")
        for vendor, example in (
            ("amazon.nova", "us.amazon.nova-2-lite-v1:0"),
            ("anthropic.claude", "us.anthropic.claude-opus-5-5"),
        )
    }
    options: Mapping[str, str] = MappingProxyType(
        {
            "region": "where the model runs, as in 'us-east-1'; by default AWS_REGION or the profile's",
            "profile": "the profile in ~/.aws whose keys are used; AWS_PROFILE by default",
            "credentials": f"the keys themselves: a mapping with {', '.join(_KEY_FIELDS)}",
        }
    )

    def endpoint(self, config: ProviderConfig, environment: Mapping[str, str]) -> Endpoint:
        """Returns the region's address; keys that are not given are found by botocore before the first request."""
        from .credentials import ChainEndpoint, required_region, url_of
        from .signature import SignatureAuth

        ignored = environment.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() == "true"
        variables = () if ignored else _URL_VARIABLES
        url, variable = base_url(config, environment, *variables), url_variable(config, environment, *variables)
        region = _region(config.options.get("region"), environment)
        profile = config.options.get("profile")
        keys = _given_keys(config.options.get("credentials"))
        if keys is None and profile is None:
            bearer = check_key(config.api_key or environment.get(_BEARER, ""), "bedrock")
            if bearer:
                auth = BearerAuth(bearer, key_hint(config, _BEARER, _BEARER))
                return FixedEndpoint.at(url or url_of(required_region(region)), auth, variable=variable)
            keys = _keys(*(environment.get(name.upper()) for name in _KEY_FIELDS))
        if keys is not None:
            auth = SignatureAuth(keys, required_region(region))
            return FixedEndpoint.at(url or url_of(required_region(region)), auth, variable=variable)
        profile = profile or environment.get("AWS_PROFILE") or None
        return ChainEndpoint(url or (url_of(region) if region else None), region, profile)

    def region(self, model: str, endpoint: Endpoint, config: ProviderConfig) -> str | None:
        """Returns the area of an inference profile, as "eu" and "global", else the AWS region, as "eu-west-2"; "single"
        for a region that is not known before the first request.
        """
        area = model.rpartition("/")[2].partition(".")[0]
        if area in _AREAS:
            return area
        host = _HOST.match(urlsplit((endpoint.url if isinstance(endpoint, KnownUrl) else None) or "").hostname or "")
        asked = config.options.get("region")
        return host[1] if host else asked if isinstance(asked, str) and asked else "single"

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the format's dialect."""
        from ...formats.bedrock_converse import ConverseDialect

        return setting_names(ConverseDialect)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ...formats.bedrock_converse import ENCODABLE, BedrockConverse, ConverseDialect

        thinks = profile.thinking is not None and profile.thinking.on_by_default
        dialect = with_settings(ConverseDialect(thinks_by_default=thinks), profile.settings)
        if not profile.known:
            profile = replace(profile, encodable=ENCODABLE)
        return ProviderSession(model, BedrockConverse(model, dialect), endpoint, profile)


def _region(asked: object, environment: Mapping[str, str]) -> str | None:
    region = asked or environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if not region:
        return None
    if not isinstance(region, str) or not _REGION.fullmatch(region):
        raise ConfigurationError(f"region {region!r} is not an AWS region.", hint="For example: region='us-east-1'.")
    return region


def _given_keys(credentials: object) -> AwsKeys | None:
    if credentials is None:
        return None
    if isinstance(credentials, Mapping):
        given = cast("Mapping[str, Any]", credentials)
        keys = _keys(*(given.get(name) for name in _KEY_FIELDS))
        if keys is not None and set(given) <= set(_KEY_FIELDS):
            return keys
    raise ConfigurationError(
        "credentials are not AWS keys.",
        hint=f"Pass a mapping with {', '.join(_KEY_FIELDS)}; the last one is optional.",
    )


def _keys(access_key: object, secret_key: object, token: object) -> AwsKeys | None:
    """Returns the keys, or None unless both are set."""
    if not isinstance(access_key, str) or not isinstance(secret_key, str) or not access_key or not secret_key:
        return None
    from .signature import AwsKeys

    session = check_key(token, "bedrock") if isinstance(token, str) else None
    return AwsKeys(check_key(access_key, "bedrock"), check_key(secret_key, "bedrock"), session or None)
