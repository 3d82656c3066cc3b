"""The laboratory: tasks, runs, logs, metrics, reports."""
