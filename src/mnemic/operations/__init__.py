"""What a remote caller may do with a memory: one table, from which every door for programs is made."""
