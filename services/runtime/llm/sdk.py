"""The SDK's client for the endpoint of the settings."""

import httpx2
import openai

from services.runtime.llm.settings import LLMSettings

_NO_KEY = "none"  # local servers need no key, but the SDK requires one


def sdk_of(settings: LLMSettings, http: httpx2.AsyncClient | None, timeout_s: float) -> openai.AsyncOpenAI:
    """A client without retries of its own.

    Args:
        settings: The endpoint and its credentials.
        http: HTTP client to use; one of the SDK's own by default.
        timeout_s: Seconds of silence after which a read ends, where an exchange sets no other limit.

    Raises:
        ValueError: The base URL is not one of an endpoint.
    """
    address = settings.address
    key = settings.api_key.get_secret_value() if settings.api_key else _NO_KEY
    if address.is_deployment:  # of an Azure resource, which reads the key from a header of its own
        return openai.AsyncAzureOpenAI(
            api_key=key,
            api_version=address.parameters["api-version"],
            base_url=address.url,
            default_query=address.parameters,
            max_retries=0,
            timeout=timeout_s,
            http_client=http,
        )
    return openai.AsyncOpenAI(
        api_key=key,
        base_url=address.url,
        default_query=address.parameters,
        default_headers=address.headers,
        max_retries=0,
        timeout=timeout_s,
        http_client=http,
    )
