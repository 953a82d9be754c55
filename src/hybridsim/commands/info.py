"""`hybridsim info`"""

from .arguments import Flag, ModelFile
from .files import print_json
from .models import read_model


def info(model: ModelFile, free: Flag = False, json: Flag = False) -> None:
    """Show joints, links and actuators of a model.

    Args:
        model: URDF, MJCF, hybrid model or run folder.
        free: Let the root link of a URDF float instead of fixing it to the world.
        json: Print JSON.
    """
    from ..view.tables import model_record, show_model

    found = read_model(model, free)
    if json:
        print_json({"model": str(model)} | model_record(found))
    else:
        show_model(found, str(model))
