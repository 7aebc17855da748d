"""Figures that only the reproduced papers use."""
