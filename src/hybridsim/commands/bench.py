"""`hybridsim bench`"""

from .arguments import Flag, ModelFile
from .files import print_json
from .models import read_model


def bench(model: ModelFile, free: Flag = False, json: Flag = False) -> None:
    """Measure how fast this robot is simulated, beside MuJoCo.

    Args:
        model: URDF, MJCF, hybrid model or run folder.
        free: Let the root link of a URDF float.
        json: Print JSON.
    """
    from ..view.bench import measure, show_speeds
    from ..view.tables import working

    with working("compiling, then measuring"):
        speeds = measure(read_model(model, free), model, free)
    if json:
        print_json({"model": str(model)} | speeds)
    else:
        show_speeds(speeds, str(model))
