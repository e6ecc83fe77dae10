"""Classical methods: kernels, support vector machines, bag vectors, Diverse Density, scikit-learn classifiers."""
