"""Meta-estimators, which fit and combine other estimators."""
