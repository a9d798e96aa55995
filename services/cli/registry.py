"""All services by name, in the order in which they start: services that others call come first."""

from services.cli import wiring
from services.cli.gateway_service import open_gateway

SERVICES: dict[str, wiring.Open] = {
    "indexer": wiring.open_indexer,
    "rater": wiring.open_rater,
    "recorder": wiring.open_recorder,
    "retriever": wiring.open_retriever,
    "nuggetizer": wiring.open_nuggetizer,
    "assigner": wiring.open_assigner,
    "judge": wiring.open_judge,
    "scraper": wiring.open_scraper,
    "gateway": open_gateway,
}

# Default gRPC ports, for processes on one machine; in containers all ports may be the same.
GRPC_PORTS = {
    "gateway": 7100,
    "scraper": 7101,
    "indexer": 7102,
    "retriever": 7103,
    "nuggetizer": 7104,
    "assigner": 7105,
    "judge": 7106,
    "rater": 7107,
    "recorder": 7108,
}
