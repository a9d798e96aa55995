"""`nuggetstream tournament`: agents that answer the queries of a plan, and the battles of their answers."""
