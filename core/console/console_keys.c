/* SPDX-License-Identifier: Apache-2.0 */
/* What the user types: bytes for the VM in focus, and the commands after Ctrl-T. */
#include "core/console/console_parts.h"
#include "core/lib/printf.h"
#include "core/lib/text.h"

static void help(struct console *c)
{
	char text[256 + CONSOLE_MAX_VMS * (CONSOLE_NAME_BYTES + 16)];
	struct text t = text_begin(text, sizeof(text));

	text_add(&t, "%s",
	         "Ctrl-T, then 1..9: that VM gets the input; n, p: the next, the one before;\n"
	         "  g, s, r: starts, stops, restarts it; :: the prompt;\n"
	         "  Ctrl-T: sends Ctrl-T; ?: this help\n");
	for (unsigned int i = 0; i < c->n_vms; i++)
		text_add(&t, "%c %u %.*s%s\n", i == c->focus ? '*' : ' ', i + 1,
		         (int)CONSOLE_NAME_BYTES, c->names[i], c->lines[i].ended ? " (ended)" : "");
	console_tally_puts(c, text);
}

/* The prompt is about the VM that had the focus before it. */
static unsigned int vm_in_focus(const struct console *c)
{
	return c->focus == CONSOLE_PROMPT ? c->back : c->focus;
}

/* Moves the focus in steps of step to the next VM that has not ended; if there is no other, the
 * announcement says that it stays. */
static void turn(struct console *c, unsigned int step)
{
	unsigned int vm = vm_in_focus(c);

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
	else if (ch == 'g' || ch == 's' || ch == 'r')
		console_life(vm_in_focus(c), (char)ch);
	else if (ch == ':' && !c->frames)
		console_prompt_open(c);
	else if (ch == '>')
		c->choosing = true;
	else if (ch == '=')
		c->request = (struct console_request){.open = true};
	else
		help(c);
}

/* Whoever typed before, at the prompt too. */
static void choose(struct console *c, unsigned int vm)
{
	if (vm >= c->n_vms)
		return;
	if (!c->frames)
		console_close(c);
	c->focus = vm;
}

int console_target(const struct console *c)
{
	if (c->n_vms == 0 || c->focus == CONSOLE_PROMPT || c->lines[c->focus].ended)
		return -1;
	return (int)c->focus;
}

/* Tells the user, once, why nothing happens. */
static void hint(struct console *c)
{
	struct console_line *l = &c->lines[c->focus];
	char text[CONSOLE_NAME_BYTES + 64];

	if (c->n_vms == 0 || l->hinted)
		return;
	l->hinted = true;
	(void)tally_snprintf(text, sizeof(text),
	                     "%.*s has ended and reads nothing; Ctrl-T n goes to the next",
	                     (int)CONSOLE_NAME_BYTES, c->names[c->focus]);
	console_tally_puts(c, text);
}

int console_input(struct console *c, uint8_t ch, uint8_t *out)
{
	int vm;

	if (!c->key && ch == CONSOLE_KEY) {
		c->key = true;
		c->choosing = false;
		return -1;
	}
	if (c->key) {
		c->key = false;
		c->request.open = false;
		if (ch != CONSOLE_KEY) {
			command(c, ch);
			return -1;
		}
		if (c->focus == CONSOLE_PROMPT) {
			console_prompt_leave(c);
			return -1;
		}
	}
	if (c->choosing) {
		c->choosing = false;
		choose(c, (unsigned int)(ch - 'A'));
		return -1;
	}
	if (c->request.open) {
		console_request_key(c, ch);
		return -1;
	}
	if (c->focus == CONSOLE_PROMPT) {
		console_prompt_key(c, ch);
		return -1;
	}
	vm = console_target(c);
	if (vm >= 0)
		*out = ch;
	else
		hint(c);
	return vm;
}
