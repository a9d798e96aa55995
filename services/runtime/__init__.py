"""I/O shared by every service: the bus, the stage runner, the model client, telemetry, lifecycle."""
