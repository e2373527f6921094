/* SPDX-License-Identifier: Apache-2.0 */
/* Loads another kernel and starts it without a reset:
 *   kexec load IMAGE INITRD BOOTARGS   a kernel for `kexec run`
 *   kexec crash IMAGE INITRD BOOTARGS  a kernel for a panic (the running one has crashkernel=)
 *   kexec run                          jumps into the kernel that `kexec load` has loaded
 * Ends with status 1 and a line that names the step that failed. */
#include <errno.h>
#include <fcntl.h>
#include <libfdt.h>
#include <linux/kexec.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An Image begins text_offset behind a multiple of this; other segments take the next one. */
#define ALIGN      0x200000ul
#define PAGE       0x1000ul
#define SEED_BYTES 64

/* Places in the header of an Image (Linux's Documentation/arch/riscv/boot-image-header.rst). */
enum { TEXT_OFFSET = 8, IMAGE_SIZE = 16 };

struct file {
	char *data;
	size_t size;
};

struct range {
	uint64_t start, end; /* the end is outside */
};

static void check(int good, const char *step)
{
	if (!good) {
		fprintf(stderr, "kexec: %s: %s\n", step, strerror(errno));
		exit(1);
	}
}

static uint64_t up(uint64_t address, uint64_t align)
{
	return (address + align - 1) / align * align;
}

static struct file read_file(const char *path)
{
	struct stat info;
	struct file file = {0};
	ssize_t got = 0;
	int fd = open(path, O_RDONLY);

	check(fd >= 0 && fstat(fd, &info) == 0, path);
	file.data = malloc(info.st_size + 1);
	check(file.data != NULL, path);
	while ((got = read(fd, file.data + file.size, info.st_size - file.size)) > 0)
		file.size += got;
	check(got == 0 && file.size > 0, path);
	close(fd);
	return file;
}

/* The first line of /proc/iomem with this name. */
static struct range find_memory(const char *name)
{
	char line[200];
	struct range range = {0};
	FILE *file = fopen("/proc/iomem", "r");

	check(file != NULL, "/proc/iomem");
	while (range.end == 0 && fgets(line, sizeof(line), file) != NULL) {
		if (strstr(line, name) != NULL) {
			char *last;

			range.start = strtoul(line, &last, 16);
			range.end = strtoul(last + 1, NULL, 16) + 1;
		}
	}
	fclose(file);
	errno = ENOENT;
	check(range.end != 0, name);
	return range;
}

/* The running kernel's device tree with other words in /chosen. memory: all that a crash kernel may
 * use, NULL for one that may use all. */
static struct file make_tree(const char *bootargs, struct range initrd, const struct range *memory)
{
	struct file old = read_file("/sys/firmware/fdt");
	size_t size = up(old.size + 2 * PAGE, PAGE);
	void *fdt = calloc(1, size);
	char seed[SEED_BYTES];
	int chosen;

	check(fdt != NULL && fdt_open_into(old.data, fdt, (int)size) == 0, "device tree");
	chosen = fdt_path_offset(fdt, "/chosen");
	/* Linux has wiped the seed that its own boot was given. */
	check(getrandom(seed, sizeof(seed), 0) == sizeof(seed), "seed");
	check(chosen >= 0 && fdt_setprop_string(fdt, chosen, "bootargs", bootargs) == 0 &&
	          fdt_setprop_u64(fdt, chosen, "linux,initrd-start", initrd.start) == 0 &&
	          fdt_setprop_u64(fdt, chosen, "linux,initrd-end", initrd.end) == 0 &&
	          fdt_setprop(fdt, chosen, "rng-seed", seed, sizeof(seed)) == 0,
	      "/chosen");
	if (memory != NULL) {
		fdt64_t usable[2] = {cpu_to_fdt64(memory->start),
		                     cpu_to_fdt64(memory->end - memory->start)};

		check(fdt_setprop(fdt, chosen, "linux,usable-memory-range", usable,
		                  sizeof(usable)) == 0,
		      "/chosen");
	}
	return (struct file){fdt, size};
}

static uint64_t number_at(struct file file, size_t offset)
{
	uint64_t number;

	check(offset + sizeof(number) <= file.size, "Image");
	memcpy(&number, file.data + offset, sizeof(number));
	return number;
}

static struct kexec_segment segment(struct file file, uint64_t at, size_t size)
{
	return (struct kexec_segment){file.data, file.size, (void *)at, up(size, PAGE)};
}

static void load(int crash, const char *image_path, const char *initrd_path, const char *bootargs)
{
	struct file image = read_file(image_path);
	struct file initrd = read_file(initrd_path);
	struct range memory = find_memory(crash ? "Crash kernel" : "System RAM");
	struct range initrd_at;
	struct file tree;
	uint64_t entry, tree_at;

	/* That the running kernel is there does no harm: the parts of a kernel for `kexec run` are
	 * copied to their places when all else has stopped. */
	entry = up(memory.start, ALIGN) + number_at(image, TEXT_OFFSET);
	initrd_at.start = up(entry + number_at(image, IMAGE_SIZE), ALIGN);
	initrd_at.end = initrd_at.start + initrd.size;
	tree_at = up(initrd_at.end, ALIGN);
	tree = make_tree(bootargs, initrd_at, crash ? &memory : NULL);
	errno = ENOMEM;
	check(tree_at + tree.size <= memory.end, "memory");

	struct kexec_segment segments[] = {
	    segment(image, entry, number_at(image, IMAGE_SIZE)),
	    segment(initrd, initrd_at.start, initrd.size),
	    segment(tree, tree_at, tree.size),
	};
	check(syscall(SYS_kexec_load, entry, sizeof(segments) / sizeof(segments[0]), segments,
	              KEXEC_ARCH_RISCV | (crash ? KEXEC_ON_CRASH : 0)) == 0,
	      "kexec_load");
}

int main(int argc, char **argv)
{
	int crash = argc > 1 && strcmp(argv[1], "crash") == 0;

	if (argc == 5 && (crash || strcmp(argv[1], "load") == 0)) {
		load(crash, argv[2], argv[3], argv[4]);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "run") == 0)
		check(syscall(SYS_reboot, 0xfee1dead, 0x28121969, RB_KEXEC, NULL) == 0, "reboot");
	fprintf(stderr, "usage: kexec {load|crash} IMAGE INITRD BOOTARGS | kexec run\n");
	return 1;
}
