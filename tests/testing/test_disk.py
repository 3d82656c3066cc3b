"""What a power cut leaves of a record."""

from random import Random

import pytest

from mnemic.testing.faulty_disk import Deleted, Disk, DiskWrite, Loss, Marked, OpenFile, Step, Synced, Truncated, cuts

OLD = b"a" * 2048
NEW = b"b" * 2048


def _images(steps: list[Step], loss: Loss, count: int = 200) -> list[dict[str, bytes]]:
    disk = Disk(steps)
    disk.forward(len(steps))
    random = Random(7)
    return [disk.image(loss, random) for _ in range(count)]


@pytest.mark.parametrize("loss", Loss)
def test_a_synced_write_survives_every_loss(loss: Loss) -> None:
    steps: list[Step] = [OpenFile(1, "/m", OLD, False), DiskWrite(1, 0, NEW), Synced(1, False)]
    assert all(image == {"/m": NEW} for image in _images(steps, loss, 20))


def test_a_dropped_write_leaves_what_was_there() -> None:
    assert _images([OpenFile(1, "/m", OLD, False), DiskWrite(1, 512, NEW), Truncated(1, 0)], Loss.DROP, 1) == [
        {"/m": OLD}
    ]


def test_a_torn_write_is_cut_at_sectors_and_nowhere_else() -> None:
    images = _images([OpenFile(1, "/m", OLD, False), DiskWrite(1, 0, NEW)], Loss.TORN)
    sectors = {image["/m"][i : i + 512] for image in images for i in range(0, 2048, 512)}
    assert sectors == {OLD[:512], NEW[:512]}
    assert len({image["/m"] for image in images}) == 16


def test_a_torn_write_leaves_its_neighbours_in_the_same_sector_alone() -> None:
    steps: list[Step] = [OpenFile(1, "/m", OLD, False), DiskWrite(1, 600, b"b" * 10)]
    for loss in (Loss.TORN, Loss.NOISE):
        for image in _images(steps, loss, 20):
            assert image["/m"][:600] == OLD[:600]
            assert image["/m"][610:] == OLD[610:]


def test_noise_keeps_loses_or_spoils_each_sector() -> None:
    images = _images([OpenFile(1, "/m", OLD, False), DiskWrite(1, 0, NEW)], Loss.NOISE)
    firsts = [image["/m"][:512] for image in images]
    assert OLD[:512] in firsts
    assert NEW[:512] in firsts
    assert set(firsts) - {OLD[:512], NEW[:512]}


def test_files_lose_their_writes_apart_from_each_other() -> None:
    steps: list[Step] = [
        OpenFile(1, "/m", b"a", False),
        OpenFile(2, "/w", b"a", False),
        DiskWrite(1, 0, b"b"),
        DiskWrite(2, 0, b"b"),
    ]
    assert len({(image["/m"], image["/w"]) for image in _images(steps, Loss.PREFIX)}) == 4


def test_a_name_is_kept_only_once_its_folder_is_synced() -> None:
    steps: list[Step] = [OpenFile(1, "/m", b"", True), DiskWrite(1, 0, NEW), Synced(1, False)]
    assert _images(steps, Loss.DROP, 1) == [{}]
    assert _images([*steps, OpenFile(2, "/w", b"", True), Synced(2, True)], Loss.DROP, 1) == [{"/m": NEW, "/w": b""}]


@pytest.mark.parametrize("loss", Loss)
def test_a_file_from_before_the_record_is_there_before_anyone_opens_it(loss: Loss) -> None:
    disk = Disk([OpenFile(1, "/m", OLD, False), OpenFile(2, "/w", NEW, False)])
    for cut in (0, 1, 2):
        disk.forward(cut)
        assert disk.image(loss, Random(7)) == {"/m": OLD, "/w": NEW}


def test_a_file_made_during_the_record_is_not_there_before() -> None:
    disk = Disk([Deleted("/w", True), OpenFile(1, "/w", NEW, False), OpenFile(2, "/m", b"", True)])
    disk.forward(1)
    assert disk.image(Loss.DROP, Random(7)) == {}


def test_a_removed_name_may_come_back_until_its_folder_is_synced() -> None:
    steps: list[Step] = [OpenFile(1, "/m", OLD, False), Deleted("/m", False)]
    assert _images(steps, Loss.DROP, 1) == [{"/m": OLD}]
    assert {len(image) for image in _images(steps, Loss.SUBSET)} == {0, 1}
    assert _images([*steps[:1], Deleted("/m", True)], Loss.DROP, 1) == [{}]


def test_a_write_past_the_end_leaves_zeros_between() -> None:
    assert _images([OpenFile(1, "/m", b"a", False), DiskWrite(1, 4, b"b"), Synced(1, False)], Loss.DROP, 1) == [
        {"/m": b"a\0\0\0b"}
    ]


def test_marks_are_said_only_up_to_the_cut() -> None:
    disk = Disk([Marked("ack 1"), OpenFile(1, "/m", b"", True), Marked("ack 2")])
    disk.forward(2)
    assert disk.said == ("ack 1",)


def test_cuts_fall_around_syncs_and_anywhere_and_repeat_with_the_seed() -> None:
    steps: list[Step] = (
        [OpenFile(1, "/m", b"", True)] + [DiskWrite(1, i, b"x") for i in range(50)] + [Synced(1, False)] * 2
    )
    chosen = cuts(steps, 20, Random(1))
    assert chosen == cuts(steps, 20, Random(1)) == sorted(chosen)
    assert len(chosen) == 20
    assert {51, 52, 53} <= set(chosen)
    assert any(cut < 51 for cut in chosen)
