"""Apache Spark: sessions, frames that stay in their cluster, and protection on the workers."""
