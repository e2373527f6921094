# SPDX-License-Identifier: Apache-2.0
"""Functions have names without an option: a recording notes which files VMs were booted from."""
import json

import flames
import harness
from perflib import samples
from recordings import record, until
from tallylib import image_files, vm_tree

MAP = """0000000000000100 T _text
0000000000000100 T outer
0000000000000200 T inner
0000000000000300 T _etext
"""
TREE = """/dts-v1/;
/ {
	images {
		one: one { data = /incbin/("one.map"); };
		two: two { data = /incbin/("two"); };
	};
	vms {
		alpha { kernel = <&one>; initrd = <&two>; };
		beta { kernel = <&two>; };
		gamma { };
	};
};
"""


def test_images_of_a_tree(tmp_path):
    """Each is found by its content: from the source, and of a blob where dtc would look."""
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "one.map").write_text(MAP, encoding="ascii")
    (folder / "two").write_bytes(b"two\n")
    tree, blob = tmp_path / "vms.dts", tmp_path / "vms.dtb"
    tree.write_text(TREE, encoding="ascii")
    assert vm_tree.compile_tree(str(tree), [str(folder)], str(blob)) is None
    one, two = ({"file": str(folder / name), "sha256": image_files.digest(content)}
                for name, content in (("one.map", MAP.encode()), ("two", b"two\n")))
    wanted = {"alpha": {"kernel": one, "initrd": two}, "beta": {"kernel": two}}
    for source in (tree, blob):
        paths = image_files.candidates(str(source), [str(folder)], str(blob))
        assert image_files.found(str(blob), paths) == wanted
    # One of the same length is another one.
    (folder / "two").write_bytes(b"too\n")
    assert image_files.found(str(blob), paths) == {"alpha": {"kernel": one}}


def recording(folder, images):
    """A file of samples of two VMs, which says this of their images."""
    head, *others = flames.objects()
    return flames.write(folder / "some.samples", [head | {"images": images}, *others])


def kernel(path):
    """What is noted of such a file."""
    return {"kernel": {"file": str(path), "sha256": image_files.digest(path.read_bytes())}}


def test_recorded_files_give_names(tmp_path):
    file = tmp_path / "System.map"
    file.write_text(MAP, encoding="ascii")
    path = recording(tmp_path, {"alpha": kernel(file)})
    done = flames.call("folded", "-e", "cycles", path)
    assert done.returncode == 0, done
    assert "alpha;vcpu 0;[kernel];0x100;outer;0x300 40000\n" in done.stdout
    assert "beta;vcpu 0;[kernel];0x200;0x100;0x200;0x300 50000\n" in done.stdout
    assert done.stderr == ("tools/perf-vms folded: no names of the kernel of beta: give --symbols "
                           "[VM=]FILE, its Image, vmlinux or System.map\n")

    # A file that was given goes before.
    other = tmp_path / "other.map"
    other.write_text(MAP.replace("inner", "given"), encoding="ascii")
    done = flames.call("folded", "-e", "cycles", path, "--symbols", other)
    assert "given" in done.stdout and "inner" not in done.stdout and done.stderr == ""


def test_missing_names_are_told_in_the_order_of_the_vms(tmp_path):
    """Not in that of the samples: whose is the first is another VM in each recording."""
    head, *rest = flames.objects()
    for objects in (rest, rest[::-1]):
        done = flames.call("folded", "-e", "cycles",
                           flames.write(tmp_path / "some.samples", [head, *objects]))
        assert done.stderr == f"tools/perf-vms folded: {flames.NAMELESS}\n"


def test_files_that_have_changed_give_none(tmp_path):
    """The names of another build would be wrong ones."""
    file = tmp_path / "System.map"
    file.write_text(MAP, encoding="ascii")
    path = recording(tmp_path, {vm: kernel(file) for vm in ("alpha", "beta")})
    file.write_text(MAP.replace("inner", "other"), encoding="ascii")
    done = flames.call("folded", "-e", "cycles", path)
    assert done.returncode == 0 and "inner" not in done.stdout and "other" not in done.stdout
    assert done.stderr == "".join(
        f"tools/perf-vms folded: VM {vm}: no names of its kernel: {file}: is not there, or was "
        f"changed since the VM was booted from it; give --symbols {vm}=FILE\n"
        for vm in ("alpha", "beta"))


def test_a_head_of_another_form(tmp_path):
    for images in ([], {"alpha": []}, {"alpha": {"kernel": 5}},
                   {"alpha": {"kernel": {"file": "x"}}}):
        done = flames.call("folded", "-e", "cycles", recording(tmp_path, images))
        assert (done.returncode, done.stdout) == (2, ""), images
        assert "is no line of a file of samples" in done.stderr or "is no file" in done.stderr


def test_a_run_tells_its_files(running, tmp_path):
    """A bare program has the names of the ELF file beside it. The run takes its note away."""
    run = running({"alpha": "kind=chain frames=3"})
    run.read_until("chain: begins")
    file = tmp_path / "alpha.samples"
    found, _ = record(run, file, "-e", "instructions:k", "-c", "50000", "--", *until(file, 20))
    image = harness.BUILD / "guests/bare.bin"
    assert found[0]["images"] == {"alpha": kernel(image)}
    assert samples.load(file)[0]["images"] == found[0]["images"]
    done = flames.call("folded", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "chain" in done.stdout, done.stdout
    note = tmp_path / "control.images"
    assert json.loads(note.read_text(encoding="ascii")) == found[0]["images"]
    assert run.ctl("poweroff")[0] == 0
    assert run.process.wait(harness.GUARD) == 0
    assert not note.exists()
