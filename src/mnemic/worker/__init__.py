"""Background work: the thread or worker that runs lanes and jobs, their order and limits, and each type of job."""
