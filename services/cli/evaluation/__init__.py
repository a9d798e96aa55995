"""The evaluation of a file of battles on the embedded platform."""
