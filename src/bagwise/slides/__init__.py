"""Whole-slide images and plain images → tissue → tiles → bags; stain operations."""
