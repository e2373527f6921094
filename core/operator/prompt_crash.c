/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `crash`: a VM's last words, line by line, while it may run again. */
#include "core/life/last_words.h"
#include "core/life/vm_log.h"
#include "core/operator/prompt.h"

/* Most bytes of the VM in a line of text; each may take three characters. */
#define CHUNK     80U
#define REGISTERS 4U

/* The state of the one answer. */
static struct {
	const struct vm *vm;
	unsigned long state; /* of the last words */
	uint64_t at;         /* next byte of the text, or next exit of the vcpu */
} crash;

static uint64_t begin_of(uint64_t n, uint64_t kept)
{
	return n > kept ? n - kept : 0;
}

static void add_head(struct prompt *p)
{
	const struct vm_crash *c = &crash.vm->crash;
	char failure[VM_FAILURE_BYTES];

	vm_failure_text(&c->failure, failure, sizeof(failure));
	text_add(&p->out,
	         "{'vm':'%s','failure':'%s','crash':%lu,'life':%lu,'time_us':%lu,'uptime_us':%lu,"
	         "'uptime_ticks':%lu,'vcpu':%u,'printed':%lu,'exits_noted':%s",
	         crash.vm->config->name, failure, crash.state / 2, c->life,
	         prompt_time(c->failure.at, US_PER_S), prompt_time(c->age, US_PER_S), c->age,
	         c->vcpu, crash.vm->last.printed[!crash.vm->last.live],
	         prompt_bool(crash.vm->config->crash_exits));
}

static void add_registers(struct prompt *p, uint32_t first)
{
	const struct vm_crash *c = &crash.vm->crash;

	text_add(&p->out, "{'vm':'%s','vcpu':%u", crash.vm->config->name, c->vcpu);
	for (uint32_t i = first; i < first + REGISTERS && first < 32; i++)
		text_add(&p->out, ",'%s':'0x%lx'", vm_register_names[i], c->x[i]);
	if (first >= 32)
		text_add(&p->out,
		         ",'sstatus':'0x%lx','scause':'0x%lx','sepc':'0x%lx','stval':'0x%lx',"
		         "'stvec':'0x%lx','satp':'0x%lx','sie':'0x%lx','sscratch':'0x%lx'",
		         c->vs.vsstatus, c->vs.vscause, c->vs.vsepc, c->vs.vstval, c->vs.vstvec,
		         c->vs.vsatp, c->vs.vsie, c->vs.vsscratch);
}

/* Plain as in a URL, and in a string of JSON and of prompt_tell(). */
static bool is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '%' && c != '\'' && c != '"' && c != '\\';
}

/* A line of the answer ends where a line of the VM ends. */
static void add_text(struct prompt *p, const char *bytes, uint64_t printed)
{
	char text[3 * CHUNK + 1], *to = text, c = 0;
	uint64_t from = crash.at;

	for (uint32_t i = 0; i < CHUNK && crash.at < printed && c != '\n'; i++) {
		c = bytes[crash.at++ % LAST_BYTES];
		if (is_plain(c)) {
			*to++ = c;
			continue;
		}
		*to++ = '%';
		*to++ = "0123456789ABCDEF"[(uint8_t)c >> 4];
		*to++ = "0123456789ABCDEF"[c & 15];
	}
	*to = '\0';
	text_add(&p->out, "{'vm':'%s','at':%lu,'text':'%s'", crash.vm->config->name, from, text);
}

static void add_exit(struct prompt *p, const struct last_exits *exits)
{
	const struct last_exit *e = &exits->entries[crash.at % LAST_EXITS];
	uint64_t next = ++crash.at < exits->n ? exits->entries[crash.at % LAST_EXITS].hs_insns
	                                      : exits->hs_insns;

	prompt_add_exit(p, &e->exit);
	text_add(&p->out, ",'hs_instructions':%lu", next - e->hs_insns);
}

/* Adds the next exit of a vcpu, or of one of the next vcpus. Returns false if there is none. */
static bool add_next_exit(struct prompt *p)
{
	const struct vm *vm = crash.vm;

	while (vm->config->crash_exits && p->vcpu < vm->config->n_vcpus) {
		const struct last_exits *exits = vm->last.exits[!vm->last.live][p->vcpu];

		if (!p->row)
			crash.at = begin_of(exits->n, LAST_EXITS);
		p->row = 1;
		if (crash.at < exits->n) {
			add_exit(p, exits);
			return true;
		}
		p->vcpu++;
		p->row = 0;
	}
	return false;
}

/* If the VM has crashed again since the answer began, drops the line and ends the answer. */
static bool is_one_crash(struct prompt *p)
{
	if (last_words_same(crash.vm, crash.state))
		return true;
	p->out = text_begin(p->line, sizeof(p->line));
	prompt_answer(p, PROMPT_FAILED, "crash: %s has failed again meanwhile: ask once more",
	              crash.vm->config->name);
	return false;
}

static void tell(struct prompt *p)
{
	if (is_one_crash(p))
		prompt_tell(p);
}

/* At the end, too: it is wrong if another crash has replaced this one. */
static void tell_exits(struct prompt *p)
{
	if (add_next_exit(p))
		tell(p);
	else if (is_one_crash(p))
		p->vm = n_vms;
}

static void tell_text(struct prompt *p)
{
	uint32_t set = !crash.vm->last.live;

	if (crash.at < crash.vm->last.printed[set]) {
		add_text(p, crash.vm->last.text[set], crash.vm->last.printed[set]);
		tell(p);
		return;
	}
	p->row = 0;
	p->next = tell_exits;
	tell_exits(p);
}

static void tell_registers(struct prompt *p)
{
	add_registers(p, REGISTERS * p->row);
	tell(p);
	if (p->row++ < 32 / REGISTERS)
		return;
	crash.at = begin_of(crash.vm->last.printed[!crash.vm->last.live], LAST_BYTES);
	p->next = tell_text;
}

void prompt_crash(struct prompt *p)
{
	crash.vm = prompt_vm_named(p, p->word[1]);
	if (!crash.vm)
		return;
	crash.state = last_words_state(crash.vm);
	if (!crash.state) {
		prompt_answer(p, PROMPT_OK,
		              p->json ? "{\"vm\":\"%s\",\"failure\":null}" : "%s has not failed",
		              crash.vm->config->name);
		return;
	}
	if (crash.state & 1) {
		prompt_answer(p, PROMPT_FAILED, "crash: %s is failing just now: ask once more",
		              crash.vm->config->name);
		return;
	}
	add_head(p);
	tell(p);
	p->next = tell_registers;
}
