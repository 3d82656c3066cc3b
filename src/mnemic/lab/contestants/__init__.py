"""What takes part in benchmarks, each behind one protocol: a file and a line in `lab/entries.py` for each sort."""
