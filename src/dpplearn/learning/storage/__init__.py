"""What is kept in files: shards of instances, checkpoints of a fit, models."""
