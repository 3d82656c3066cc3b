"""The benchmarks: one file or folder each, with its run, report and pictures."""
