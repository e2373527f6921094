/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/kernel_file.h"

#include <libfdt.h>
#include <string.h>

#include "core/lib/text.h"

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
	       has(kernel,
	           data[PE_OFFSET] | data[PE_OFFSET + 1] << 8 |
	               (uint64_t)data[PE_OFFSET + 2] << 16 | (uint64_t)data[PE_OFFSET + 3] << 24,
	           "PE\0", 4);
}

bool kernel_file_is_raw(const struct vm_image *kernel, char *reason, size_t size)
{
	struct text text = text_begin(reason, size);
	const char *is;
	uint32_t i = 0;

	while (known[i].length && !has(kernel, known[i].at, known[i].magic, known[i].length))
		i++;
	if (!known[i].length && !is_pe(kernel))
		return true;
	is = known[i].is;
	if (known[i].packed)
		text_add(&text, "is packed by %s: unpack it first, with %s -d", is, is);
	else
		text_add(&text, "is %s: a VM runs an Image, or raw code (objcopy -O binary)", is);
	return false;
}
