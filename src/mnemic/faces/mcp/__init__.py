"""Memory in the hands of agents over the Model Context Protocol, on standard input and output."""
