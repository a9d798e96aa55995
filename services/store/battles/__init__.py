"""Battles and votes as they are accepted, their events, and their deletion."""
