/* SPDX-License-Identifier: Apache-2.0 */
/* What the user types: bytes for the VM in focus, and the commands after Ctrl-T. */
#include "core/console.h"
#include "core/printf.h"

/* A line of Tally about one VM: its number as the user counts, from 1 on, and its name. */
static void say(struct console *c, const char *before, unsigned int vm, const char *after)
{
	char text[CONSOLE_NAME_BYTES + 96];

	(void)tally_snprintf(text, sizeof(text), "%s%u %.*s%s", before, vm + 1,
	                     (int)CONSOLE_NAME_BYTES, c->names[vm], after);
	console_tally_puts(c, text);
}

static void help(struct console *c)
{
	console_tally_puts(c, "Ctrl-T, then 1..9: that VM gets the input; n, p: the next, the one "
	                      "before; Ctrl-T: sends Ctrl-T; ?: this help");
	for (unsigned int i = 0; i < c->n_vms; i++)
		say(c, i == c->focus ? "* " : "  ", i, c->lines[i].ended ? " (ended)" : "");
}

/* Moves the focus in steps of step to the next VM that has not ended; if there is no other, the
 * announcement says that it stays. */
static void turn(struct console *c, unsigned int step)
{
	unsigned int vm = c->focus;

	for (unsigned int i = 0; i < c->n_vms; i++) {
		vm = (vm + step) % c->n_vms;
		if (!c->lines[vm].ended)
			break;
	}
	console_set_focus(c, vm);
}

static void command(struct console *c, uint8_t ch)
{
	if (c->n_vms == 0)
		return;
	if (ch == 'n')
		turn(c, 1);
	else if (ch == 'p')
		turn(c, c->n_vms - 1);
	else if (ch >= '1' && ch <= '9' && (unsigned int)(ch - '1') < c->n_vms)
		console_set_focus(c, ch - '1');
	else
		help(c);
}

/* The VM in focus if it can take input. */
static int receiver(struct console *c)
{
	struct console_line *l = &c->lines[c->focus];

	if (c->n_vms == 0)
		return -1;
	if (!l->ended)
		return (int)c->focus;
	if (!l->hinted)
		say(c, "VM ", c->focus, " has ended and reads nothing; Ctrl-T n goes to the next");
	l->hinted = true;
	return -1;
}

int console_input(struct console *c, uint8_t ch, uint8_t *out)
{
	int vm;

	if (!c->key && ch == CONSOLE_KEY) {
		c->key = true;
		return -1;
	}
	if (c->key) {
		c->key = false;
		if (ch != CONSOLE_KEY) {
			command(c, ch);
			return -1;
		}
	}
	vm = receiver(c);
	if (vm >= 0)
		*out = ch;
	return vm;
}
