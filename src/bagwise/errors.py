"""The one exception for mistakes that a user can mend."""


class InputError(ValueError):
    """Wrong input: the message names the place, what is wrong, and what to do.

    It is a ``ValueError``, so ``except ValueError`` works as anywhere in Python; the command line turns it into
    one paragraph and exit code 2, and lets any other exception through as the bug it is.
    """
