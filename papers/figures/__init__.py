"""Figures of the reproduced papers: many studies side by side."""
