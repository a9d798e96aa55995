"""The `nuggetstream` command: one module per subcommand, and the wiring of all services."""
