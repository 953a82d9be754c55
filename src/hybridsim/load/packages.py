"""Where the files that a robot file names are: package://, model://, file:// and relative paths."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit


def find_file(name: str, folder: Path, package_dirs: Sequence[str | Path] = ()) -> Path | None:
    """The file that `name` means in a robot file that lies in `folder`; None where there is none.

    package://NAME/rest is looked for in `package_dirs`, in ROS_PACKAGE_PATH and in the folders above `folder`,
    each of which may be the package itself, or hold it.
    """
    return next((path for path in _candidates(name.replace("\\", "/"), folder, package_dirs) if path.is_file()), None)


def _candidates(name: str, folder: Path, package_dirs: Sequence[str | Path]) -> Iterator[Path]:
    scheme, separator, rest = name.partition("://")
    if not separator:
        yield folder / name
    elif scheme == "file":
        path = Path(unquote(urlsplit(name).path))
        yield path if path.is_absolute() else folder / path
    elif scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        above = [folder, *folder.parents]
        ros = [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
        for place in [*map(Path, package_dirs), *ros, *above]:
            if place.name == package:
                yield place / inside
            yield place / package / inside
        # A package whose folder was renamed, as when it was downloaded by itself.
        yield from (place / inside for place in above)
