"""The thread and the worker that run lanes and jobs: in which order, beside whom, and what each kind of job does."""
