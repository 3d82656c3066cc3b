"""Small memories: a few short statements, of which nothing may be hidden."""
