"""Commands about keys, webhooks and the audit log."""
