"""What the network policies allow the scraper to reach is what its address guard allows."""

import ipaddress

import pytest
import yaml

from k8s.checks.render import K8S
from services.runtime.address_guard import WEB_PORTS
from services.runtime.public_addresses import why_forbidden

POLICIES = K8S / "components" / "network-policies" / "policies.yaml"
[SCRAPER] = [
    policy["spec"]
    for policy in yaml.safe_load_all(POLICIES.read_text(encoding="utf-8"))
    if policy["metadata"]["name"] == "scraper"
]


def test_the_scraper_may_use_the_ports_of_the_web_and_no_other() -> None:
    [rule] = SCRAPER["egress"]
    assert {entry["port"] for entry in rule["ports"]} == WEB_PORTS
    assert {entry["protocol"] for entry in rule["ports"]} == {"TCP"}


@pytest.mark.parametrize("block", SCRAPER["egress"][0]["to"][0]["ipBlock"]["except"])
def test_what_the_policy_leaves_out_is_forbidden_by_the_guard(block: str) -> None:
    network = ipaddress.ip_network(block)
    assert why_forbidden(str(network[1])) is not None
    assert why_forbidden(str(network[-2])) is not None
