"""Work in pieces: over processes of this machine, over a Dask cluster, over a folder that many commands share."""
