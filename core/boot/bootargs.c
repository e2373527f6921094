/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/bootargs.h"

#include <libfdt.h>
#include <string.h>

#include "core/boot/debug.h"
#include "core/hart/platform.h"
#include "core/log.h"

#define TALLY "tally."

static bool is_word(const char *word, size_t n, const char *name)
{
	return n == strlen(name) && !memcmp(word, name, n);
}

bool bootargs_set(const struct bootargs_flag *flags, size_t n_flags, const char *word, size_t n)
{
	for (size_t i = 0; i < n_flags; i++) {
		if (!is_word(word, n, flags[i].word))
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

/* Returns false if this build does not know the word. */
static bool take(const char *word, size_t n)
{
	static const struct bootargs_flag flags[] = {
	    {"tally.console=interactive", &platform.interactive},
	    {"tally.console=frames", &platform.frames},
	    {"tally.inexact-counts", &platform.inexact},
	};

	if (is_word(word, n, "tally.backend=sbi"))
		platform.backend = HPM_SBI;
	else if (is_word(word, n, "tally.backend=ssccfg"))
		platform.backend = HPM_SSCCFG;
	else
		return bootargs_set(flags, ARRAY_SIZE(flags), word, n) || debug_word(word, n);
	return true;
}

static void tell_unknown(const char *word, size_t n)
{
	log_line("WARNING: %.*s: Tally does not know this word of the bootargs",
	         (int)(n < 63 ? n : 63), word);
}

/* Returns the words, which end in NUL; "" if there are none. */
static const char *words_of(const void *dtb)
{
	int len, chosen = fdt_subnode_offset(dtb, 0, "chosen");
	const char *args = chosen < 0 ? NULL : fdt_getprop(dtb, chosen, "bootargs", &len);

	return !args || len < 1 || args[len - 1] ? "" : args;
}

/* Of the host's tree, which is where it was until boot has reported. */
static const char *words = "";

static void take_all(bool report)
{
	size_t n;

	for (const char *word = words; *word; word += n) {
		for (n = 0; word[n] && word[n] != ' ';)
			n++;
		if (n >= strlen(TALLY) && !memcmp(word, TALLY, strlen(TALLY)) && !take(word, n) &&
		    report)
			tell_unknown(word, n);
		n += word[n] == ' ';
	}
}

void bootargs_read(const void *dtb)
{
	words = words_of(dtb);
	take_all(false);
}

void bootargs_report(void)
{
	take_all(true);
}
