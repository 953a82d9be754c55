"""The checker of jaxtyping's annotations in tests: beartype, to which an int is a float, as PEP 484 says."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
