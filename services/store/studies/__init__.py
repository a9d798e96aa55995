"""Studies that ask people about battles."""
