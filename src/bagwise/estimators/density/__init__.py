"""Diverse Density: concepts as points near every positive bag."""
