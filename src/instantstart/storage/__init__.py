"""Storage: bucket, mount and claim, the one data contract; proved by writing, reading and deleting."""
