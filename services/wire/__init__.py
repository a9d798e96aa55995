"""Core types as protobuf, and every subject of the system once."""
