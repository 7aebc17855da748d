"""How to count."""
