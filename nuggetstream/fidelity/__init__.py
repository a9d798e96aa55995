"""The published numbers that must come out of our code, computed from recorded data without a model."""
