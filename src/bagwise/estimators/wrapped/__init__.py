"""Classifiers of scikit-learn, put to work on bags."""
