"""What every benchmark uses: data, systems, runs, logs, metrics, tables."""
