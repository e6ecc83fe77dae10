"""The checker behind jaxtyping's import hook: beartype, for which a whole number is a float too, as for everyone."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
