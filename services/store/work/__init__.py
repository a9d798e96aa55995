"""Work that is pending: what waits for a result, a message or an event."""
