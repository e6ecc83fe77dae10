"""What can be taken along: the numbers of a bag's instances as csv, under a name that every system can save."""

import csv
import io
import re

from bagwise.showing.instances import instance_rows
from bagwise.showing.layers import Layers
from bagwise.showing.shown_run import ShownRun

LONGEST = 100  # letters of a bag's name


def instances_csv(shown: ShownRun, layers: Layers, bag: int) -> str:
    """The rows of a bag's instances as text."""
    stream = io.StringIO()
    rows = instance_rows(shown, layers, bag)
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def file_name(bag: str, suffix: str) -> str:
    """A name for a file to save, whatever the bag is called.

    >>> file_name("../a<b>.png", "csv")
    'a-b-.png.csv'
    """
    return f"{re.sub('[^A-Za-z0-9._@-]+', '-', bag).lstrip('.-')[:LONGEST] or 'bag'}.{suffix}"
