"""`install`: mnemic into the configuration of the agents and editors that a person uses already."""
