"""Estimators that hold other estimators."""
