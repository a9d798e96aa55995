"""I/O shared by all services: bus, stage runner, model client, gRPC, telemetry and process lifecycle."""
