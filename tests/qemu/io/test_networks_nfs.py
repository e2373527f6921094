# SPDX-License-Identifier: Apache-2.0
"""Two Debian guests on one hart share files by NFS while both count; each frame is accounted for,
and each byte arrives."""

import pytest

import harness
import loads

pytestmark = pytest.mark.long

SIZE = 8 << 20  # bytes of the file
# The client is alpha. It mounts again before it reads, so nothing comes from its own cache. Its
# kernel's statistics of a mount have the bytes that went over the network.
SCRIPTS = {
    "alpha": loads.COUNTS + f"""
mkdir /mnt
share() {{ answer mount.nfs 10.0.0.2:/ /mnt -o vers=4.2,hard,retry=0; }}
head -c {SIZE} /dev/urandom >/tmp/data
share
echo counts $(grep -c instructions:u /tmp/counts)
dd if=/tmp/data of=/mnt/data bs=64k conv=fsync 2>/tmp/dd
grep bytes: /proc/self/mountstats
umount /mnt
share
echo sum $(sha256sum </mnt/data)
grep bytes: /proc/self/mountstats
echo counts $(grep -c instructions:u /tmp/counts)
touch /mnt/end
umount /mnt
echo sum $(sha256sum </tmp/data)
""" + loads.COUNTED + loads.ACCOUNT,
    # nfsdcld knows of no client before, so the server has no time of grace, in which a client has
    # to wait. The kernel gives it about a second to answer, so it has to be ready before; the log
    # shows whether it was. If it was not, the time is 10 seconds.
    "beta": loads.COUNTS + """
mkdir -p /export /var/lib/nfs/nfsdcld /var/lib/nfs/rpc_pipefs
touch /etc/exports /var/lib/nfs/etab
ln -s /proc/mounts /etc/mtab
mount -t tmpfs tmpfs /export
mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
exportfs -o rw,no_root_squash,no_subtree_check,fsid=0 10.0.0.0/24:/export
rpc.mountd -N 3
nfsdcld
until grep -q inotify /proc/$(pidof nfsdcld)/fdinfo/* 2>/tmp/why; do sleep 0.1; done
rpc.nfsd -N 3 -p 2049 -G 10 2
dmesg | grep NFSD
until [ -e /export/end ]; do sleep 0.1; done
echo sum $(sha256sum </export/data)
""" + loads.COUNTED + loads.ACCOUNT}


def words(result, name, first):
    """The words behind the first one of each of a guest's lines that begin with it."""
    return [line.split()[1:] for line in result.vm(name) if line.split()[:1] == [first]]


@pytest.mark.parametrize("profile", ["exact", "interactive"])
def test_nfs(tmp_path, profile):
    """The file is the same on both sides and when it is read back, and went over the network once
    each way."""
    tree = loads.tree(tmp_path, SCRIPTS, modules=harness.GUEST / "nfs-modules",
                      programs="nfs-root")
    result = harness.run(tree, profile=profile, meanwhile=loads.pull_when_quiet(tmp_path),
                         options=[*loads.options(tmp_path), "--memory", "2048M"])
    assert result.status == harness.OK, str(result)
    sums = words(result, "alpha", "sum") + words(result, "beta", "sum")
    assert len(sums) == 3 and len(set(map(tuple, sums))) == 1, str(result)
    # The fifth and the sixth are bytes that the server sent, and that were sent to it.
    written, read = words(result, "alpha", "bytes:")
    assert written[4:6] == ["0", str(SIZE)] and read[4:6] == [str(SIZE), "0"], str(result)
    total = loads.accounted(result)
    [before], [after] = words(result, "alpha", "counts")
    print(f"{total['sent']} frames, {total['lost']} lost, {total['refused']} refused; "
          f"{int(after) - int(before)} counts meanwhile")
    for name in loads.NAMES:
        sent, again = loads.segments(result, name)
        print(f"{name}: {sent} segments, {again} of them again; "
              f"{loads.counted(result, name)} counts")
        assert again * 100 < sent
    assert int(after) - int(before) >= 2, str(result)  # one of them as a whole
