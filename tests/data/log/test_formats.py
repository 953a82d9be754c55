"""Binary formats: npz, Parquet, MCAP, their own kinds of damage, and what is said when a package is missing."""

import sys

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.data import DataError
from hybridsim.data.log import column_choices, read_log

from .formats import as_json, cdr, write_mcap, write_npz, write_parquet
from .truth import QD, ROWS, TAU, TIME, Q, agrees, lines, read, write


@pytest.mark.parametrize("make", [write_npz, write_parquet, write_mcap])
def test_formats(make, tmp_path, arm):
    pytest.importorskip({write_parquet: "pyarrow", write_mcap: "mcap"}.get(make, "numpy"))
    trajectory, warning = read(make(tmp_path), arm)
    assert warning == ""
    assert len(trajectory) == ROWS
    assert agrees(trajectory)
    assert trajectory.control_kind == "force"


@pytest.mark.parametrize(("module", "suffix"), [("pyarrow.parquet", "parquet"), ("mcap.reader", "mcap")])
def test_a_missing_package_is_named(module, suffix, tmp_path, arm, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=r'which is not installed; pip install "hybridsim\[datasets\]"'):
        read_log(write(tmp_path, lines(), f"run.{suffix}"), arm)


def test_npz_with_a_step_and_names(tmp_path, arm):
    path = tmp_path / "run.npz"
    order = ["elbow", "shoulder"]
    np.savez(path, dt=0.01, position=Q[:, ::-1], velocity=QD[:, ::-1], effort=TAU[:, ::-1], joint_names=order)
    assert agrees(read(path, arm)[0])


def test_npz_damage(tmp_path, arm):
    path = tmp_path / "run.npz"
    np.savez(path, time=TIME, q=Q, qd=QD[:-3])
    trajectory, warning = read(path, arm)
    assert "array 'qd' has 197 rows where others have 200" in warning
    assert trajectory.qd is None
    np.savez(path, time=TIME, q=np.array([object()] * ROWS))
    with pytest.raises(DataError, match="plain arrays"):
        read(path, arm)
    np.savez(path, dt=-1.0, q=Q)
    with pytest.raises(DataError, match=r"'dt' is -1\.0"):
        read(path, arm)
    np.savez(path, time=TIME[:0], q=Q[:0])
    with pytest.raises(DataError, match="no rows of data"):
        read(path, arm)
    np.savez(path, time=TIME, q=Q.astype(complex))
    with pytest.raises(DataError, match="no column was recognised"):
        read(path, arm)
    np.save(path.with_suffix(".npy"), Q)
    path.with_suffix(".npy").rename(path)
    with pytest.raises(DataError, match="one array without a name"):
        read(path, arm)


def test_npz_stamps_in_nanoseconds_stay_exact(tmp_path, arm):
    path = tmp_path / "run.npz"
    stamps = 1_700_000_000_000_000_000 + np.arange(ROWS) * 10_000_001
    np.savez(path, time=stamps, q=Q)
    np.testing.assert_allclose(np.diff(read(path, arm, units={"time": "ns"})[0].time), 0.010000001, rtol=1e-9)


def test_parquet_with_dates_lists_and_nulls(tmp_path, arm):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stamps = pyarrow.array((TIME * 1e6).round().astype("int64") + 1_700_000_000_000_000, pyarrow.timestamp("us"))
    elbow = pyarrow.array([None if k == 30 else x for k, x in enumerate(Q[:, 1])])
    columns = {"timestamp": stamps, "shoulder_pos": Q[:, 0], "elbow_pos": elbow, "vel": list(QD)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "run.parquet")
    trajectory, warning = read(tmp_path / "run.parquet", arm)
    assert "1 cells are no number" in warning
    assert agrees(trajectory)
    assert not trajectory.q_mask[30, 1]
    assert trajectory.qd_mask.all()


def test_mcap_in_json_and_cut_short(tmp_path, arm):
    pytest.importorskip("mcap")
    assert agrees(read(write_mcap(tmp_path, "json"), arm)[0])
    path = write_mcap(tmp_path)
    path.write_bytes(path.read_bytes()[:20_000])
    trajectory, warning = read(path, arm)
    assert "ends early or is damaged" in warning
    assert agrees(trajectory)


def test_mcap_topics(tmp_path, arm):
    pytest.importorskip("mcap")
    path = write_mcap(tmp_path, topics=("/left", "/right"))
    with pytest.raises(DataError, match="joint states on /left, /right; give one as topic="):
        read(path, arm)
    assert agrees(read(path, arm, topic="/left")[0])
    with pytest.raises(DataError, match=r"no readable joint states.*its topics: /chatter"):
        read(path, arm, topic="/up")


def test_joint_state_messages():
    from hybridsim.data.log.joint_state import decode

    for make, encoding in ((cdr, "cdr"), (as_json, "json")):
        state = decode(make(1_500_000_001, ["a", "bcd"], [1.0, 2.0], [], [3.0, 4.0]), encoding)
        assert (state.stamp, state.names, state.position) == (1_500_000_001, ["a", "bcd"], [1.0, 2.0])
        assert (state.velocity, state.effort) == ([], [3.0, 4.0])
        with pytest.raises(ValueError, match="3 numbers of position for 2 joints"):
            decode(make(0, ["a", "b"], [1.0, 2.0, 3.0], [], []), encoding)
        with pytest.raises(ValueError, match="named twice"):
            decode(make(0, ["a", "a"], [1.0, 2.0], [], []), encoding)
    whole = cdr(0, ["a"], [1.0], [2.0], [3.0])
    for end in range(len(whole)):
        with pytest.raises(ValueError):
            decode(whole[:end], "cdr")
    with pytest.raises(ValueError, match="encoding 'xml' is not known"):
        decode(whole, "xml")


def test_one_joint_needs_no_name(tmp_path):
    model = hs.world(hs.chain(1), hs.ground())
    assert model.nq == 1
    path = write(tmp_path, ["t,angle", *(f"{0.01 * k:.2f},{np.sin(0.1 * k):.6f}" for k in range(30))])
    trajectory, warning = read(path, model)
    assert warning == ""
    np.testing.assert_allclose(trajectory.q[:, 0], np.sin(0.1 * np.arange(30)), atol=1e-6)


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("slide_pos_m", "slide_force_N"), True),
        (("slide_position [m]", "slide_force [N]"), True),
        (("slide_pos", "slide_force"), True),
        (("slide_pos_k", "slide_force_k"), False),
    ],
)
def test_metres_and_newtons_of_what_slides(names, taken, tmp_path):
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'
    (tmp_path / "cart.urdf").write_text(
        '<robot name="cart"><link name="rail"/><link name="cart"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="slide" type="prismatic"><parent link="rail"/>'
        f'<child link="cart"/><axis xyz="1 0 0"/>{limit}</joint></robot>'
    )
    options, _ = column_choices(
        write(tmp_path, [f"time,{','.join(names)}", "0,0.1,1", "0.1,0.2,2", "0.2,0.3,3"]),
        hs.load(tmp_path / "cart.urdf"),
    )
    assert options["slide.position"] == ([names[0]] if taken else [])
    assert options["slide.force"] == ([names[1]] if taken else [])


def test_a_letter_after_the_angle_of_what_turns_is_not_understood(tmp_path, arm):
    """It may be that of a motor."""
    head = "time,shoulder_pos_m,elbow_pos"
    options, _ = column_choices(write(tmp_path, [head, "0,0.1,1", "0.1,0.2,2", "0.2,0.3,3"]), arm)
    assert options["shoulder.position"] == []
    assert options["elbow.position"] == ["elbow_pos"]
