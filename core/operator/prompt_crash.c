/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `crash` and `last`: a VM's last words, line by line, while it may run again. */
#include "core/life/last_words.h"
#include "core/life/vm_log.h"
#include "core/operator/prompt.h"

/* Most bytes of the VM in a line of text; each may take three characters. */
#define CHUNK     80U
#define REGISTERS 4U

/* The state of the one answer. */
static struct {
	const struct vm *vm;
	const atomic_ulong *changes; /* of its crashes, or of its ends */
	unsigned long state;         /* their number when the answer began */
	const struct last_text *text;
	uint64_t at; /* next byte of the text, or next exit of the vcpu */
} crash;

static bool is_crash(void)
{
	return crash.changes == &crash.vm->last.crashes;
}

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
	         c->vcpu, crash.text->printed, prompt_bool(crash.vm->config->crash_exits));
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
static void add_text(struct prompt *p, const struct last_text *last)
{
	char text[3 * CHUNK + 1], *to = text, c = 0;
	uint64_t from = crash.at;

	for (uint32_t i = 0; i < CHUNK && crash.at < last->printed && c != '\n'; i++) {
		c = last->bytes[crash.at++ % LAST_BYTES];
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

/* If the VM has crashed, or ended, again since the answer began, drops the line and ends the
 * answer. */
static bool is_one_crash(struct prompt *p)
{
	if (last_words_same(crash.changes, crash.state))
		return true;
	p->out = text_begin(p->line, sizeof(p->line));
	prompt_answer(p, PROMPT_FAILED, "%s: %s has %s again meanwhile: ask once more", p->word[0],
	              crash.vm->config->name, is_crash() ? "failed" : "ended");
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
	if (crash.at < crash.text->printed) {
		add_text(p, crash.text);
		tell(p);
	} else if (is_crash()) {
		p->row = 0;
		p->next = tell_exits;
		tell_exits(p);
	} else if (is_one_crash(p)) {
		p->vm = n_vms;
	}
}

static void begin_text(struct prompt *p)
{
	crash.at = begin_of(crash.text->printed, LAST_BYTES);
	p->next = tell_text;
}

static void tell_registers(struct prompt *p)
{
	add_registers(p, REGISTERS * p->row);
	tell(p);
	if (p->row++ < 32 / REGISTERS)
		return;
	begin_text(p);
}

/* Returns false if there is nothing to tell, and says so. */
static bool begin(struct prompt *p, const atomic_ulong *changes)
{
	const char *name = crash.vm->config->name;

	crash.changes = changes;
	crash.state = last_words_state(changes);
	if (!crash.state && p->json)
		prompt_answer(p, PROMPT_OK, "{\"vm\":\"%s\",\"%s\":null}", name,
		              is_crash() ? "failure" : "end");
	else if (!crash.state)
		prompt_answer(p, PROMPT_OK, "%s has not %s", name, is_crash() ? "failed" : "ended");
	else if (crash.state & 1)
		prompt_answer(p, PROMPT_FAILED, "%s: %s is %s just now: ask once more", p->word[0],
		              name, is_crash() ? "failing" : "ending");
	return crash.state && !(crash.state & 1);
}

void prompt_crash(struct prompt *p)
{
	crash.vm = prompt_vm_named(p, p->word[1]);
	if (!crash.vm || !begin(p, &crash.vm->last.crashes))
		return;
	crash.text = crash.vm->last.crashed;
	add_head(p);
	tell(p);
	p->next = tell_registers;
}

void prompt_last(struct prompt *p)
{
	static const char *const ends[] = {
	    [VM_END_SHUTDOWN] = "shutdown", [VM_END_ALL_STOPPED] = "all its vcpus stopped",
	    [VM_END_REBOOT] = "reboot",     [VM_END_FAILED] = "failure",
	    [VM_END_STOP] = "stop",         [VM_END_RESTART] = "restart",
	    [VM_END_POWER_OFF] = "poweroff"};
	const struct vm_ended *e;

	crash.vm = prompt_vm_named(p, p->word[1]);
	if (!crash.vm || !begin(p, &crash.vm->last.ends))
		return;
	e = &crash.vm->ended;
	crash.text = crash.vm->last.ended;
	text_add(&p->out,
	         "{'vm':'%s','end':'%s','life':%lu,'time_us':%lu,'uptime_us':%lu,"
	         "'uptime_ticks':%lu,'printed':%lu",
	         crash.vm->config->name, ends[e->why], e->life, prompt_time(e->at, US_PER_S),
	         prompt_time(e->age, US_PER_S), e->age, crash.text->printed);
	tell(p);
	begin_text(p);
}
