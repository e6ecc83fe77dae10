"""The local web viewer: a server on this machine alone, and a page that shows what a run's models saw."""
