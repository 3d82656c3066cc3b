"""Language models that answer a conversation, behind one port: an endpoint, a file on this machine, a script."""
