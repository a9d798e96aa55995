"""Studies that ask people: administration over the API, and the questionnaire on pages of its own."""
