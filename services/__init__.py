"""Nuggetstream: explain LLM and RAG battles while they happen."""
