"""Battles and votes: accepted over HTTP, gRPC and NATS, shown one by one or as a list, and followed live."""
