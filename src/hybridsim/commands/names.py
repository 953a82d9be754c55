"""`hybridsim names`"""

from .arguments import Flag, ModelFile
from .files import print_json
from .models import read_model


def names(model: ModelFile, free: Flag = False, springs: Flag = False, json: Flag = False) -> None:
    """List the variables of a step, where networks can be put.

    Args:
        model: URDF, MJCF, hybrid model or run folder.
        free: Let the root link of a URDF float instead of fixing it to the world.
        springs: Contact by springs instead of impulses; it has other variables.
        json: Print JSON, with all that each variable may depend on.
    """
    from ..contact import Impulses, Springs
    from ..simulate import names
    from ..view.names import names_record, show_names

    marks = names(read_model(model, free), Springs() if springs else Impulses())
    if json:
        print_json({"model": str(model)} | names_record(marks))
    else:
        show_names(marks, str(model))
