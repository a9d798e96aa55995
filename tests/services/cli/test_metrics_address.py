"""Metrics, which need no key, are served at the address of the service alone."""

from urllib.error import URLError
from urllib.request import urlopen

import pytest

from services.cli.wiring.process import serve_metrics


@pytest.mark.parametrize(("host", "other"), [("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.1")])
def test_metrics_are_served_at_the_address_of_the_service_alone(host: str, other: str) -> None:
    port = serve_metrics(host, 0)
    with urlopen(f"http://{host}:{port}/metrics", timeout=90) as response:
        assert b"# TYPE" in response.read()
    with pytest.raises(URLError):
        urlopen(f"http://{other}:{port}/metrics", timeout=90)
