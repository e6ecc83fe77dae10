"""Methods that fit support vector machines to instances (Andrews et al. 2003)."""
