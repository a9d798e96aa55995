"""The domain types as protobuf, and the subjects, streams and consumers of the system."""
