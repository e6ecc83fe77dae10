"""What is shown of a run, bag by bag: the same numbers for `bagwise explain` and for the viewer."""
