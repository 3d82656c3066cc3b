"""The ground floor: the nouns, the clocks, the tokens. Standard library only."""
