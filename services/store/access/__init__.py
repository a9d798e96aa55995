"""Who may use the platform, who did what, and where events are sent."""
