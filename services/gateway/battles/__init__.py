"""Battles and votes over HTTP, gRPC and NATS: accepting them, showing them, and following their events."""
