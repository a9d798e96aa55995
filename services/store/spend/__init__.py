"""Model calls, what they cost, and the budgets."""
