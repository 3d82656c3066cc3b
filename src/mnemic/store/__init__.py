"""The cellar: the contract, its keepers, and the codec between nouns and bytes."""
