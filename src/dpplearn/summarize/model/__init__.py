"""From a cluster to items, and from clusters with references to weights."""
