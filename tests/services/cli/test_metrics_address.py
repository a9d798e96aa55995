"""The metrics may be bound to another address than the service, since they need no key."""

from urllib.error import URLError
from urllib.request import urlopen

import pytest

from services.cli.wiring.process import serve_metrics
from services.cli.wiring.settings import ServerSettings


@pytest.mark.parametrize(
    ("given", "bound", "other"), [(None, "127.0.0.1", "127.0.0.2"), ("127.0.0.2",) * 2 + ("127.0.0.1",)]
)
def test_metrics_are_served_at_their_own_address_alone(given: str | None, bound: str, other: str) -> None:
    port = serve_metrics(ServerSettings(metrics_port=0, metrics_host=given))
    with urlopen(f"http://{bound}:{port}/metrics", timeout=90) as response:
        assert b"# TYPE" in response.read()
    with pytest.raises(URLError):
        urlopen(f"http://{other}:{port}/metrics", timeout=90)
