/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's RAM, or its first piece, from ram_base upwards:
 *
 *   | ... | kernel: size, then its bss | free ... | initrd | dtb |
 *         ^ kernel_offset                         ^ 4 KiB  ^ first_size - 64 KiB
 *
 * The initrd is as high as possible, because the kernel takes its first free memory from directly
 * after itself. Linux maps the dtb with 2 MiB pages before it knows its RAM, so the dtb must not
 * cross a 2 MiB boundary. Memory is a multiple of 2 MiB, so the last 64 KiB do not.
 */
#include "core/tree/vm_groups.h"

#include <string.h>

#define PAGE UINT64_C(4096)

/* The RISC-V Image header (Linux, Documentation/arch/riscv/boot-image-header.rst). */
#define IMAGE_HEADER_SIZE 64U
#define IMAGE_TEXT_OFFSET 8U
#define IMAGE_SIZE        16U
#define IMAGE_FLAGS       24U
#define IMAGE_MAGIC2      56U
#define IMAGE_MAGIC2_RSC  0x05435352U
#define IMAGE_FLAG_BE     1U
#define IMAGE_TEXT_STEP   UINT64_C(0x200000) /* boot.rst: the kernel starts at a PMD boundary */

#define MAGIC_BYTES 6U
#define PE_OFFSET   0x3cU /* of the number of bytes before the signature of a PE file */

/* No RISC-V code begins with any of these: they are reserved encodings, or code with a chance of
 * less than one in 2^32. */
static const struct {
	uint16_t at;    /* bytes from the beginning of the file */
	uint8_t length; /* bytes of magic */
	bool packed;    /* `is` names the program that unpacks it, with -d */
	char magic[MAGIC_BYTES];
	char is[22];
} known[] = {
    {0, 3, true, "\x1f\x8b\x08", "gzip"},
    {0, 6, true, "\xfd\x37zXZ", "xz"},
    {0, 4, true, "\x28\xb5\x2f\xfd", "zstd"},
    {0, 4, true, "\x04\x22\x4d\x18", "lz4"},
    {0, 4, true, "\x02\x21\x4c\x18", "lz4"}, /* Linux packs its Image this way */
    {4, 6, true, "1AY&SY", "bzip2"},
    {0, 3, true, "\x5d\0\0", "lzma"},
    {0, 4, false, "\x7f\x45LF", "an ELF file"},
    {4, 4, false, "zimg", "a packed EFI program"}, /* zboot */
    {56, 4, false, "ARMd", "an Image for arm64"},
    {0x202, 4, false, "HdrS", "a bzImage for x86"},
    {0, 4, false, "\x27\x05\x19\x56", "a U-Boot image"},
    {0, 4, false, "\xd0\x0d\xfe\xed", "a device tree or FIT"},
    {0, 0, false, "", "an EFI program"}, /* is_pe() */
};

/* The blob aligns data to 4 bytes only, and the header is little-endian on every host. */
static uint64_t le(const uint8_t *bytes, unsigned int n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | bytes[n];
	return value;
}

static bool has(const struct vm_image *kernel, uint64_t at, const char *magic, uint64_t length)
{
	const char *data = kernel->data;

	return kernel->size >= length && at <= kernel->size - length &&
	       memcmp(data + at, magic, length) == 0;
}

/* "MZ" is also an instruction, with which Images begin as well, so the PE header is checked. */
static bool is_pe(const struct vm_image *kernel)
{
	const uint8_t *data = kernel->data;

	return has(kernel, 0, "MZ", 2) && kernel->size >= PE_OFFSET + 4 &&
	       has(kernel, le(data + PE_OFFSET, 4), "PE\0", 4);
}

/*
 * Looks at a kernel without a RISC-V Image header, which runs from its first byte. It may be code.
 * Refuses a packed file, an ELF file or another known kind of file, and says how to convert it.
 */
static bool check_raw(const struct vm_node *n)
{
	const struct vm_image *kernel = &n->vm->kernel;
	const char *is;
	uint32_t i = 0;

	while (known[i].length && !has(kernel, known[i].at, known[i].magic, known[i].length))
		i++;
	if (!known[i].length && !is_pe(kernel))
		return true;
	is = known[i].is;
	if (known[i].packed)
		return vm_refuse(n, VM_REFUSED_KERNEL_FILE, "kernel",
		                 "is packed by %s: unpack it first, with %s -d", is, is);
	return vm_refuse(n, VM_REFUSED_KERNEL_FILE, "kernel",
	                 "is %s: a VM runs an Image, or raw code (objcopy -O binary)", is);
}

static bool is_image(const struct vm_image *kernel)
{
	return kernel->size >= IMAGE_HEADER_SIZE &&
	       le((const uint8_t *)kernel->data + IMAGE_MAGIC2, 4) == IMAGE_MAGIC2_RSC;
}

static bool read_image_header(const struct vm_node *n)
{
	struct vm_config *vm = n->vm;
	const uint8_t *header = vm->kernel.data;
	uint64_t span = le(header + IMAGE_SIZE, 8);

	vm->kernel_offset = le(header + IMAGE_TEXT_OFFSET, 8);
	if (le(header + IMAGE_FLAGS, 8) & IMAGE_FLAG_BE)
		return vm_refuse(n, VM_REFUSED_IMAGE_HEADER, "kernel",
		                 "Image header: a big-endian kernel");
	if (vm->kernel_offset % IMAGE_TEXT_STEP)
		return vm_refuse(n, VM_REFUSED_IMAGE_HEADER, "kernel",
		                 "Image header: text_offset %lu is not a multiple of 2 MiB",
		                 vm->kernel_offset);
	if (!span)
		return vm_refuse(n, VM_REFUSED_IMAGE_HEADER, "kernel",
		                 "Image header: image_size is 0");
	/* A file may have more after the kernel than the header says, for instance a signature. */
	if (span > vm->kernel_span)
		vm->kernel_span = span;
	return true;
}

bool vm_layout(const struct vm_node *n, bool load_offset_given)
{
	struct vm_config *vm = n->vm;
	uint64_t kernel_end;

	vm->kernel_is_image = is_image(&vm->kernel);
	vm->kernel_span = vm->kernel.size;
	if (!vm->kernel_is_image && !check_raw(n))
		return false;
	if (vm->kernel_is_image && load_offset_given)
		return vm_refuse(n, VM_REFUSED_LOAD_OFFSET, "load-offset",
		                 "the kernel is an Image, which says itself where it goes");
	if (vm->kernel_offset % PAGE)
		return vm_refuse(n, VM_REFUSED_LOAD_OFFSET, "load-offset",
		                 "%lu is not a multiple of 4096", vm->kernel_offset);
	if (vm->kernel_is_image && !read_image_header(n))
		return false;

	vm->dtb_offset = vm->first_size - VM_DTB_SIZE;
	/* Both numbers come from the tree. Compare them without a sum that may wrap. */
	if (vm->kernel_offset > vm->dtb_offset ||
	    vm->kernel_span > vm->dtb_offset - vm->kernel_offset)
		return vm_refuse(n, VM_REFUSED_KERNEL_FIT, "kernel",
		                 "%lu bytes at offset %lu do not fit into the %s", vm->kernel_span,
		                 vm->kernel_offset,
		                 vm->n_pieces > 1 ? "lowest piece of memory-at" : "VM's memory");
	vm->initrd_offset = 0;
	if (!vm->initrd.data)
		return true;

	kernel_end = vm->kernel_offset + vm->kernel_span;
	if (vm->initrd.size <= vm->dtb_offset)
		vm->initrd_offset = (vm->dtb_offset - vm->initrd.size) & ~(PAGE - 1);
	if (vm->initrd.size > vm->dtb_offset || vm->initrd_offset < kernel_end)
		return vm_refuse(n, VM_REFUSED_INITRD_FIT, "initrd",
		                 "%lu bytes do not fit behind the kernel, which ends at offset "
		                 "%lu%s",
		                 vm->initrd.size, kernel_end,
		                 vm->n_pieces > 1 ? " of the lowest piece of memory-at" : "");
	return true;
}
