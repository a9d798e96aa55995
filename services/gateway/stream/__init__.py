"""The events of many battles in one stream, with filters, over server-sent events and gRPC."""
