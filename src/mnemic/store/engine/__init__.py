"""What a store means, written once over rows: commits, reading, branches, erasing, checking, lanes, jobs, the past."""
