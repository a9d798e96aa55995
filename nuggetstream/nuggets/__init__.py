"""Nugget scores, the preference that follows from them, and the explanation of a battle."""
