"""`hybridsim simulate`"""

from .arguments import Flag, ModelFile, Names, Numbers, OptionalFile, OptionalSeconds
from .files import print_json, write_text
from .logs import read_log_for
from .models import contact_of_run, read_model


def simulate(
    model: ModelFile,
    seconds: OptionalSeconds = None,
    dt: OptionalSeconds = None,
    q: Numbers = (),
    log: OptionalFile = None,
    out: OptionalFile = None,
    free: Flag = False,
    prescribed: Names = (),
    limits: Flag = False,
    json: Flag = False,
) -> None:
    """Let a model move: from rest, or driven along a log.

    Args:
        model: URDF, MJCF, hybrid model, or run folder.
        seconds: How long; 2 s, or all of the log.
        dt: Step of the simulator [s]; 1 ms, or the log's own step.
        q: Where it starts at rest: one number for each coordinate.
        log: Start and drive it as in this log; tell the error.
        out: CSV to write, which `hybridsim fit` can read.
        free: Let the root link of a URDF float.
        prescribed: Joints that follow the log, or rest without one.
        limits: Let joint limits act even where no shapes can touch.
        json: Print JSON.
    """
    from ..view.simulate import along_log, from_rest, motion_csv, motion_record, show_motion
    from ..view.tables import working

    if log is not None and q:
        raise ValueError("--q and --log both say where to start; give one of them")
    found, contact = read_model(model, free, log), contact_of_run(model)
    if prescribed:
        from ..model import prescribed as mark

        found = mark(found, prescribed)
    measured = None if log is None else read_log_for(model, found, log)
    with working("compiling, then simulating"):
        if measured is None:
            motion = from_rest(
                found, q, 2.0 if seconds is None else seconds, 1e-3 if dt is None else dt, limits, contact
            )
        else:
            motion = along_log(found, measured, seconds, dt, limits, contact)
    if out is not None:
        write_text(out, motion_csv(motion))
    if json:
        print_json({"model": str(model), "out": None if out is None else str(out)} | motion_record(motion))
    else:
        show_motion(motion, str(model), None if out is None else str(out))
