"""Hand-made faults in the places that matter, and the command that shows which test notices each."""
