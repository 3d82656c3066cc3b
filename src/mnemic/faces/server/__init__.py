"""The memory over HTTP: routes made from the table of operations, for programs that are not in this process."""
