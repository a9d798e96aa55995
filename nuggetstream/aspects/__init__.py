"""Long-form answers rated aspect by aspect, and scores that combine the aspects (W-LLM)."""
