"""Summaries as `hybridsim fit` writes them."""


def parameter(name: str, value: float, deviation: float | None, start: float = 1.0, unit: str = "kg") -> dict:
    lower, upper = (None, None) if deviation is None else (value - 2 * deviation, value + 2 * deviation)
    record = {"name": name, "value": value, "deviation": deviation, "lower": lower, "upper": upper}
    return record | {"start": start, "unit": unit, "note": ""}


def stage(name: str, title: str, median: float, ninth: float) -> dict:
    return {"name": name, "title": title, "median": median, "ninth": ninth, "by_joint": {}, "by_run": {}}


def summary_of(**changes) -> dict:
    record = {
        "title": "two link arm",
        "stages": [
            stage("original", "as in the file", 0.2, 0.4),
            stage("calibrated", "calibrated", 0.05, 0.09),
            stage("explained", "with friction", 0.004, 0.008),
        ],
        "findings": [
            {
                "effect": "Coulomb friction",
                "where": "elbow",
                "gain": 0.8,
                "words": "force at joint elbow is [dry] friction",
            }
        ],
        "parameters": [
            parameter("link/forearm/mass", 1.5, 0.01, 1.2),
            parameter("link/upper_arm/mass", 2.0, 0.5, 2.1),
            parameter("joint/elbow/damping", 0.3, None, 0.1, "N m s/rad"),
        ],
        "warnings": [],
        "seconds": {"fit": 1.0},
        "stopped": False,
        "window": 0.5,
        "unit": "rad",
    }
    return record | changes
