"""How fast a served memory starts and answers."""
