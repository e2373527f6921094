/* SPDX-License-Identifier: Apache-2.0 */
/* SBI calls of guests, and what must come of them. */
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"
#include "tests/host/machine/guest_acts.h"

#define TEXT_AT     0x180000UL /* where guests keep what they print */
#define TEXT_BYTES  2048U
#define HW_COUNTERS 0xf8UL
#define FW_COUNTERS 0xff00UL

static struct chance *luck(void)
{
	return &machine.chance;
}

void guest_ecall(struct machine_hart *h, uint64_t eid, uint64_t fid, const uint64_t a[6])
{
	struct model_expect *e = guest_expect(h);
	uint64_t pc = h->csr[CSR_SEPC];

	memcpy(&h->x[10], a, 6 * sizeof(a[0]));
	h->x[16] = fid;
	h->x[17] = eid;
	e->x |= BIT(10) | BIT(11);
	e->pc[0] = e->pc[1] = e->nonretentive ? e->pc[0] : pc + 4;
	h->user = false;
	guest_traps(h, CAUSE_ECALL_VS);
}

static void call(struct machine_hart *h, uint64_t eid, uint64_t fid, uint64_t a0, uint64_t a1,
                 uint64_t a2)
{
	guest_ecall(h, eid, fid, (const uint64_t[6]){a0, a1, a2, 0, 0, chance(luck())});
}

static void sets_timer(struct machine_hart *h, struct vcpu *vcpu)
{
	uint64_t now = machine.time + vcpu->vm->htimedelta;
	uint64_t at = percent(luck(), 10) ? chance(luck()) : now + below(luck(), 20000);

	guest_expect(h)->timer = at;
	guest_expect(h)->sets_timer = true;
	call(h, SBI_EXT_TIME, SBI_TIME_SET_TIMER, at, 0, 0);
}

/* --- to other vcpus ------------------------------------------------------------------ */

static uint64_t any_mask(const struct vcpu *vcpu, uint64_t *base)
{
	uint32_t n = vcpu->vm->config->n_vcpus;

	*base = percent(luck(), 10) ? ~0UL : percent(luck(), 10) ? below(luck(), n + 1) : 0;
	return percent(luck(), 5) ? chance(luck()) : chance(luck()) & (BIT(n) - 1);
}

static uint64_t targets(const struct vcpu *vcpu, uint64_t mask, uint64_t base)
{
	uint64_t all = BIT(vcpu->vm->config->n_vcpus) - 1;

	if (base == ~0UL)
		return all;
	return base >= vcpu->vm->config->n_vcpus || mask > all >> base ? 0 : mask << base;
}

/* What is noted of the targets before a call. It may end in another turn, so it is the sender's. */
static void note(struct vcpu *vcpu, uint64_t to, uint32_t kind)
{
	struct model_vcpu *m = model_of(vcpu);

	m->sent.kind = kind;
	m->sent.to = 0;
	m->sent.fences = ++machine.fences;
	for (uint32_t i = 0; i < vcpu->vm->config->n_vcpus; i++) {
		struct vcpu *target = vcpu->vm->vcpus[i];
		const struct model_vcpu *t = model_of(target);

		if (target == vcpu || !(to >> i & 1) || !model_is_on(target) || !t->seen ||
		    t->off || t->life != target->vm->htimedelta || t->start_due)
			continue;
		m->sent.to |= BIT(i);
		m->sent.changes[i] = t->changes;
		m->sent.cleared[i] = t->cleared;
	}
}

static void sends(struct machine_hart *h, struct vcpu *vcpu)
{
	uint64_t base, mask = any_mask(vcpu, &base);

	note(vcpu, targets(vcpu, mask, base), MODEL_SENT_IPI);
	call(h, SBI_EXT_IPI, SBI_IPI_SEND_IPI, mask, base, 0);
}

static void fences(struct machine_hart *h, struct vcpu *vcpu)
{
	uint64_t base, mask = any_mask(vcpu, &base), fid = below(luck(), 4);

	note(vcpu, fid < 3 ? targets(vcpu, mask, base) : 0,
	     fid ? MODEL_SENT_VVMA : MODEL_SENT_FENCE_I);
	call(h, SBI_EXT_RFENCE, fid, mask, base, chance(luck()));
}

/* One that has stopped itself, if there is one. */
static uint64_t who_is_off(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		if (model_of(vm->vcpus[i])->off && percent(luck(), 80))
			return i;
	}
	return below(luck(), vm->config->n_vcpus + 1);
}

static void starts(struct machine_hart *h, struct vcpu *vcpu)
{
	uint64_t id = who_is_off(vcpu->vm);
	uint64_t pc =
	    percent(luck(), 95) ? model_ram(vcpu->vm) + 4 * below(luck(), 4000) : chance(luck());
	uint64_t opaque = chance(luck());

	if (id < vcpu->vm->config->n_vcpus) {
		struct model_vcpu *t = model_of(vcpu->vm->vcpus[id]);

		t->starts[t->n_starts % MODEL_STARTS].pc = pc;
		t->starts[t->n_starts % MODEL_STARTS].life = vcpu->vm->htimedelta;
		t->starts[t->n_starts++ % MODEL_STARTS].opaque = opaque;
		t->changes++;
	}
	call(h, SBI_EXT_HSM, SBI_HSM_HART_START, id, pc, opaque);
}

static void asks_for_status(struct machine_hart *h, struct vcpu *vcpu)
{
	call(h, SBI_EXT_HSM, SBI_HSM_HART_GET_STATUS, below(luck(), vcpu->vm->config->n_vcpus + 1),
	     0, 0);
}

static void suspends(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_expect *e = guest_expect(h);
	uint64_t type = percent(luck(), 45)   ? SBI_HSM_SUSPEND_RETENTIVE
	                : percent(luck(), 90) ? SBI_HSM_SUSPEND_NON_RETENTIVE
	                                      : chance(luck());
	uint64_t pc = model_ram(vcpu->vm) + 4 * below(luck(), 4000);

	guest_sets_alarm(h, vcpu);
	e->waits = type == SBI_HSM_SUSPEND_RETENTIVE || type == SBI_HSM_SUSPEND_NON_RETENTIVE;
	if (type == SBI_HSM_SUSPEND_NON_RETENTIVE) {
		e->nonretentive = true;
		e->pc[0] = pc;
	}
	call(h, SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, type, pc, chance(luck()));
}

static void stops(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	/* Others bring it back, if there are some. */
	if (percent(luck(), 60) || (vcpu->vm->config->n_vcpus == 1 && percent(luck(), 90)))
		return;
	m->off = true;
	m->changes++;
	call(h, SBI_EXT_HSM, SBI_HSM_HART_STOP, 0, 0, 0);
}

/* --- the others ---------------------------------------------------------------------- */

static bool is_outside(const struct vcpu *vcpu, uint64_t at, uint64_t n)
{
	const struct vm_config *config = vcpu->vm->config;

	if (!config->n_pieces)
		return n && (at < VM_RAM_BASE || at - VM_RAM_BASE >= config->memory ||
		             n > config->memory - (at - VM_RAM_BASE));
	for (uint32_t i = 0; i < config->n_pieces; i++) {
		uint64_t base = config->pieces[i].base, end = base + config->pieces[i].size;

		if (at >= base && at < end && n <= end - at)
			return false;
	}
	return n;
}

/* A guest's text has lines of 16 bytes at first. */
#define LINES 8U

uint64_t model_letters(uint64_t n)
{
	uint64_t lines = (n + 8) / 16;

	return n - (lines < LINES ? lines : LINES);
}

static void says(struct vcpu *vcpu, uint64_t n)
{
	if (!vcpu->vm->config->console)
		return;
	model_texts[vcpu->vm->index].most += n;
	model_of(vcpu)->says = n;
}

void guest_prints(struct machine_hart *h, struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;
	bool last = vm->config->n_pieces && percent(luck(), 50), high;
	uint64_t n = below(luck(), machine.kind.chatty ? TEXT_BYTES : 200), fid = below(luck(), 4);
	uint64_t at = (last ? model_ram_end(vm) - VM_MEMORY_STEP : model_ram(vm)) + TEXT_AT;
	const uint64_t text_at = at;
	char *text = (char *)(last ? at : vm->memory.a + TEXT_AT);

	memset(text, operator_letter(vcpu->vm->index), TEXT_BYTES);
	for (uint32_t i = 0; i < LINES; i++)
		text[16 * i + 7] = '\n';
	if (percent(luck(), 5))
		at = percent(luck(), 50) ? vm->config->shared[0].at : chance(luck());
	if (fid == SBI_DBCN_WRITE_BYTE)
		n = (uint64_t)operator_letter(vcpu->vm->index);
	if (fid == SBI_DBCN_CONSOLE_READ)
		at += TEXT_BYTES;
	if (percent(luck(), 5))
		at = model_ram_end(vcpu->vm) - below(luck(), (uint32_t)n);
	if (fid < SBI_DBCN_WRITE_BYTE)
		model_of(vcpu)->refused = is_outside(vcpu, at, n);
	high = percent(luck(), 5);
	if (fid < SBI_DBCN_WRITE_BYTE)
		model_of(vcpu)->granted = !high && !is_outside(vcpu, at, n);
	if (fid == SBI_DBCN_CONSOLE_WRITE && at == text_at && !high)
		says(vcpu, model_letters(n));
	if (fid == SBI_DBCN_WRITE_BYTE)
		says(vcpu, 1);
	model_of(vcpu)->prints = machine.kind.slow_line && fid != SBI_DBCN_CONSOLE_READ;
	model_of(vcpu)->says_some = fid == SBI_DBCN_CONSOLE_WRITE;
	call(h, SBI_EXT_DBCN, fid, n, at, high);
}

/* Mostly of a VM that there is; few entitle it. */
static void commands(struct machine_hart *h, struct vcpu *vcpu)
{
	if (vcpu->vm->config->heartbeat_ms && percent(luck(), 80)) {
		model_rings(vcpu);
		call(h, SBI_EXT_TALLY, SBI_TALLY_RING, chance(luck()), chance(luck()), 0);
		return;
	}

	uint64_t name = 'v' | 'm' << 8 | (uint64_t)('0' + below(luck(), 4)) << 16;

	call(h, SBI_EXT_TALLY, percent(luck(), 60) ? SBI_TALLY_VM_STATE : below(luck(), 7), name,
	     percent(luck(), 5) ? chance(luck()) : 0, chance(luck()));
}

static void ends(struct machine_hart *h)
{
	if (percent(luck(), machine.kind.short_lives ? 50 : 95))
		return;
	call(h, SBI_EXT_SRST, SBI_SRST_RESET, below(luck(), 4), percent(luck(), 20), 0);
}

static void anything(struct machine_hart *h, struct vcpu *vcpu)
{
	if (percent(luck(), vcpu->vm->config->heartbeat_ms ? 80 : 30)) {
		commands(h, vcpu);
		return;
	}
	static const uint64_t wrong[][4] = {
	    {SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, SBI_HSM_SUSPEND_NON_RETENTIVE, 1},
	    {SBI_EXT_SRST, SBI_SRST_RESET, SBI_SRST_SHUTDOWN, SBI_SRST_REASON_SYSFAIL + 1}};
	const uint64_t *w = wrong[below(luck(), ARRAY_SIZE(wrong))];

	if (percent(luck(), 10)) {
		call(h, w[0], w[1], w[2], w[3], 0);
		return;
	}
	static const uint64_t known[] = {SBI_EXT_BASE, SBI_EXT_TIME + 1, SBI_EXT_PMU, 0, 0x10001};
	uint64_t eid =
	    percent(luck(), 80) ? known[below(luck(), ARRAY_SIZE(known))] : chance(luck());
	uint64_t fid = eid == SBI_EXT_PMU ? percent(luck(), 50) : below(luck(), 18);

	call(h, eid, fid, below(luck(), 40), chance(luck()), chance(luck()));
}

void guest_calls_sbi(struct machine_hart *h, struct vcpu *vcpu)
{
	static const uint32_t lively[] = {5, 6, 6, 9, 10};

	switch (machine.kind.short_lives && percent(luck(), 80)
	            ? lively[below(luck(), ARRAY_SIZE(lively))]
	            : below(luck(), 12)) {
	case 0:
		sets_timer(h, vcpu);
		break;
	case 1:
	case 2:
		sends(h, vcpu);
		break;
	case 3:
	case 4:
		fences(h, vcpu);
		break;
	case 5:
	case 6:
		starts(h, vcpu);
		break;
	case 7:
		if (percent(luck(), 30))
			asks_for_status(h, vcpu);
		else if (!model_of(vcpu)->hog)
			suspends(h, vcpu);
		break;
	case 8:
		guest_prints(h, vcpu);
		break;
	case 9:
		stops(h, vcpu);
		break;
	case 10:
		ends(h);
		break;
	default:
		anything(h, vcpu);
	}
}

/* --- counters ------------------------------------------------------------------------ */

static bool is_exact(const struct vcpu *vcpu)
{
	return !machine.kind.firmware_fails && !vcpu->vm->config->pmu_freeze_vcpu;
}

/* Any event, in any mode, of the hart or of the firmware. */
static void configures(struct machine_hart *h, const struct vcpu *vcpu)
{
	const struct model_vcpu *m = model_of(vcpu);
	/* Its own counter may be stopped, and then is free. */
	uint64_t hw = HW_COUNTERS & ~(m->counts ? BIT(m->counter) : 0);
	uint64_t flags = chance(luck()) & 0xfe;
	bool fw = percent(luck(), 40);
	uint64_t event =
	    !fw ? below(luck(), 6)
	        : 0xf0000 + (percent(luck(), 50) ? below(luck(), 22) : 256 + below(luck(), 20));

	guest_ecall(h, SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING,
	            (const uint64_t[6]){0, fw ? FW_COUNTERS : hw, flags & ~1UL, event});
}

/* It stops its counter, or lets it overflow soon. */
static void samples(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);

	m->samples = m->stopped ? MODEL_SAMPLES_START : MODEL_SAMPLES_STOP;
	m->sample = -(1 + chance(luck()) % 400);
	if (m->stopped)
		guest_ecall(
		    h, SBI_EXT_PMU, SBI_PMU_COUNTER_START,
		    (const uint64_t[6]){m->counter, 1, SBI_PMU_START_SET_INIT_VALUE, m->sample});
	else
		guest_ecall(h, SBI_EXT_PMU, SBI_PMU_COUNTER_STOP,
		            (const uint64_t[6]){m->counter, 1, 0});
}

/* A counter that it knows, of instructions; and others beside it. */
void guest_counts(struct machine_hart *h, struct vcpu *vcpu)
{
	struct model_vcpu *m = model_of(vcpu);
	uint64_t n = percent(luck(), 80) ? 3 + below(luck(), 5) : below(luck(), 16), many[6] = {0};

	if (m->counts && percent(luck(), 50)) {
		samples(h, vcpu);
		return;
	}
	switch (below(luck(), 6)) {
	case 0:
		if (m->counts || !is_exact(vcpu))
			return;
		m->begins = true;
		guest_ecall(
		    h, SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING,
		    (const uint64_t[6]){0, HW_COUNTERS,
		                        SBI_PMU_CFG_FLAG_CLEAR_VALUE | SBI_PMU_CFG_FLAG_AUTO_START,
		                        SBI_PMU_HW_INSTRUCTIONS});
		return;
	case 1:
		configures(h, vcpu);
		return;
	case 2:
		if (m->counts && n == m->counter)
			return;
		guest_ecall(h, SBI_EXT_PMU, SBI_PMU_COUNTER_START,
		            (const uint64_t[6]){n, 1, percent(luck(), 50) && !m->sampler,
		                                -(chance(luck()) % 500)});
		return;
	case 3:
		/* It may start again where it is. */
		if (m->counts && n == m->counter)
			m->counts = m->sampler = false;
		guest_ecall(h, SBI_EXT_PMU, SBI_PMU_COUNTER_STOP,
		            (const uint64_t[6]){n, 1, percent(luck(), 60)});
		return;
	case 4:
		many[0] = percent(luck(), 50) ? model_ram(vcpu->vm) + 0x140000 : ~0UL;
		many[1] = many[0] == ~0UL ? ~0UL : 0;
		guest_ecall(h, SBI_EXT_PMU, SBI_PMU_SNAPSHOT_SET_SHMEM, many);
		return;
	default:
		many[0] = percent(luck(), 90) ? model_ram(vcpu->vm) + 0x150000
		                              : model_ram_end(vcpu->vm) - 160;
		many[2] = 1 + below(luck(), 60);
		guest_ecall(h, SBI_EXT_PMU, SBI_PMU_EVENT_GET_INFO, many);
	}
}
