"""Who may use which route of the gateway: the rules, their checks, and the login of the pages."""
