/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/isa.h"

/* In the order of enum isa_ext, then those that need no work of Tally, because they have no state
 * and no CSR. Of these Zcb is left out because insn.c does not know its loads and stores, and Zkr
 * because the firmware controls its CSR. */
const char *const isa_names[] = {
    "h",       "v",         "sscofpmf", "ssaia",  "sstc",     "smcntrpmf", "ssccfg",      "svadu",
    "svpbmt",  "zicbom",    "zicboz",   "zicbop", "zicntr",   "zifencei",  "zihintpause", "zihpm",
    "zawrs",   "zfa",       "zfh",      "zfhmin", "zba",      "zbb",       "zbc",         "zbs",
    "svinval", "svnapot",   "svvptc",   "zic64b", "ziccamoa", "ziccif",    "zicclsm",     "ziccrse",
    "zicond",  "zihintntl", "zimop",    "zmmul",  "za64rs",   "zaamo",     "zalrsc",      "zabha",
    "zacas",   "zca",       "zcd",      "zbkb",   "zbkc",     "zbkx",      "zknd",        "zkne",
    "zknh",    "zksed",     "zksh",     "zkt"};
_Static_assert(ARRAY_SIZE(isa_names) == ISA_EXTENSIONS, "isa.h has the number");
static const char *const base_names[] = {"i", "m", "a", "f", "d", "c"};

static uint64_t bit_of(const char *name, size_t len)
{
	for (size_t e = 0; e < ISA_EXTENSIONS; e++) {
		size_t i = 0;

		while (i < len && isa_names[e][i] && (name[i] | 0x20) == (isa_names[e][i] | 0x20))
			i++;
		if (i == len && !isa_names[e][i])
			return BIT(e);
	}
	return 0;
}

uint64_t isa_bits(const char *name, size_t len)
{
	/* RISC-V Unprivileged ISA, "B" Extension. */
	if (len == 1 && (name[0] | 0x20) == 'b')
		return bit_of("zba", 3) | bit_of("zbb", 3) | bit_of("zbs", 3);
	return bit_of(name, len);
}

uint64_t isa_list(const char *list, size_t len)
{
	uint64_t bits = 0;
	size_t start = 0;

	for (size_t i = 0; i < len; i++) {
		if (list[i])
			continue;
		bits |= isa_bits(&list[start], i - start);
		start = i + 1;
	}
	return bits;
}

/* Whether the name of a multi-letter extension begins here, which is possible without an
 * underscore. Old trees have "su" among the letters, for the modes S and U. */
static bool begins_word(const char *isa, size_t len)
{
	char c = isa[0] | 0x20;

	return c == 'x' || c == 'z' || (c == 's' && !(len > 1 && (isa[1] | 0x20) == 'u'));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t without_digits(const char *name, size_t len)
{
	while (len && is_digit(name[len - 1]))
		len--;
	return len;
}

/* Returns the length of a name without its version: "zicbom1p0". Version 1 may be "zicbom1". */
static size_t without_version(const char *name, size_t len)
{
	size_t minor = without_digits(name, len);

	if (minor < len && minor > 1 && (name[minor - 1] | 0x20) == 'p' &&
	    is_digit(name[minor - 2]))
		return without_digits(name, minor - 1);
	return minor;
}

uint64_t isa_parse(const char *isa, size_t len)
{
	uint64_t bits = 0;
	size_t i = 4; /* skips "rv64" */

	for (; i < len && isa[i] && isa[i] != '_' && !begins_word(&isa[i], len - i); i++)
		bits |= isa_bits(&isa[i], 1);
	while (i < len && isa[i]) {
		size_t start = i += isa[i] == '_';

		while (i < len && isa[i] && isa[i] != '_')
			i++;
		bits |= isa_bits(&isa[start], without_version(&isa[start], i - start));
	}
	return bits;
}

static void append(char *buf, size_t size, size_t *used, const char *s)
{
	while (*s && *used + 1 < size)
		buf[(*used)++] = *s++;
	buf[*used] = 0;
}

size_t isa_guest(uint64_t host, bool sscofpmf, char *buf, size_t size, const char **names)
{
	uint64_t guest = host & (~0UL << ISA_GUEST_FIRST);
	size_t used = 0, n = 0;

	/* Enabled for guests by henvcfg, or usable by the block sizes in the guest's tree. */
	guest |=
	    host & (BIT(ISA_SSAIA) | BIT(ISA_SSTC) | BIT(ISA_SVADU) | BIT(ISA_SVPBMT) | ISA_CBO);
	if (sscofpmf)
		guest |= BIT(ISA_SSCOFPMF);
	for (size_t i = 0; i < ARRAY_SIZE(base_names); i++)
		names[n++] = base_names[i];
	if (host & BIT(ISA_V))
		names[n++] = isa_names[ISA_V];
	/* Linux requires it in the list, and every hart has it. */
	names[n++] = "zicsr";
	for (size_t e = 0; e < ISA_EXTENSIONS; e++) {
		if (guest & BIT(e))
			names[n++] = isa_names[e];
	}
	append(buf, size, &used, "rv64");
	for (size_t i = 0; i < n; i++) {
		/* Names of one letter come first, and are not separated. */
		append(buf, size, &used, names[i][1] ? "_" : "");
		append(buf, size, &used, names[i]);
	}
	return n;
}
