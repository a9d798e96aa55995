"""The evaluators that grade single answers, documents, citations, nuggets and queries."""
