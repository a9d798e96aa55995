"""The commands of `nuggetstream rubric`, by what they read."""
