/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/firmware/firmware.h"

#define MAX_HARTS 64U /* also in entry.S and pmu.c */
#define PAYLOAD   0x80200000UL
#define MSIP      ((volatile uint32_t *)0x2000000UL)
#define MTIMECMP  ((volatile uint64_t *)0x2004000UL)
#define FINISHER  ((volatile uint32_t *)0x100000UL)

#define MENVCFG     "0x30a"
#define STIMECMP    "0x14d"
#define VSTIMECMP   "0x24d"
#define MPP_S       (1UL << 11)
#define MPP         (3UL << 11)
#define MIE_MSIE    (1UL << 3)
#define MIE_MTIE    (1UL << 7)
#define IP_SSIP     (1UL << 1)
#define IP_STIP     (1UL << 5)
#define IP_LCOFIP   (1UL << 13)
#define INTERRUPT   (1UL << 63)
#define CAUSE_SOFT  (INTERRUPT | 3)
#define CAUSE_TIMER (INTERRUPT | 7)
#define CAUSE_ILL   2UL
#define CAUSE_LOAD  13UL
#define CAUSE_STORE 15UL
#define CAUSE_ECALL 9UL

void hart_main(uint64_t hart, const char *tree);
void trapped(struct frame *f);

static char words[256];
static struct start {
	uint64_t addr, opaque;
	uint32_t go; /* the hart may read the other fields after this */
} starts[MAX_HARTS];
static uint64_t started_late; /* number + 1 */

/* --- options ------------------------------------------------------------------------------ */

static bool begins(const char *text, const char *word)
{
	while (*word && *text == *word)
		text++, word++;
	return !*word;
}

/* Finds the first of the firmware's words on the command line, wherever it is in the tree, and what
 * follows it. The memory of the tree will be reused. */
static void find_words(const char *tree)
{
	const uint8_t *size = (const uint8_t *)tree + 4;
	uint32_t n =
	    (uint32_t)size[0] << 24 | (uint32_t)size[1] << 16 | (uint32_t)size[2] << 8 | size[3];

	for (uint32_t i = 0; i + 4 < n && !*words; i++) {
		for (uint32_t k = 0; begins(tree + i, "fw.") && tree[i + k] && k < 255; k++)
			words[k] = tree[i + k];
	}
}

const char *option(const char *word)
{
	for (const char *at = words; *at; at++) {
		const char *end = at + 3, *w = word;

		if (!begins(at, "fw.") || !begins(end, word))
			continue;
		while (*w)
			w++, end++;
		return end;
	}
	return 0;
}

bool option_is(const char *word)
{
	const char *end = option(word);

	return end && (*end == ' ' || *end == 0);
}

/* --- harts -------------------------------------------------------------------------------- */

/* Counters that S-mode cannot read. */
static uint64_t kept(void)
{
	static const struct {
		const char *word;
		uint64_t counters;
	} known[] = {
	    {"cycle", 1}, {"time", 2}, {"instret", 4}, {"hpmcounters", ~7UL}, {"hpmcounter3", 8}};

	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]) && option("keeps="); i++)
		if (begins(option("keeps="), known[i].word))
			return known[i].counters;
	return 0;
}

static bool clusters;
static uint64_t first_id;

/* Returns the id that S-mode knows a hart by, whose number is its mhartid. */
static uint64_t id_of(uint64_t hart)
{
	return first_id + (clusters ? hart / 2 << 8 | hart % 2 : hart);
}

/* Returns MAX_HARTS if there is none. */
static uint64_t hart_of(uint64_t id)
{
	uint64_t hart = 0;

	while (hart < MAX_HARTS && id_of(hart) != id)
		hart++;
	return hart;
}

static _Noreturn void enter(uint64_t hart, uint64_t addr, uint64_t opaque)
{
	uint64_t delegate = 0xf0b5ffUL;

	/* Nothing may be pending in M-mode: it would make QEMU check all interrupts, see
	 * docs/platform.md. */
	MTIMECMP[hart] = ~0UL;
	/* S-mode may access all memory. */
	csr_write(pmpaddr0, ~0UL >> 10);
	csr_write(pmpcfg0, 0x1f);
	if (option("delegated="))
		delegate &= ~BIT(CAUSE_ILL);
	if (option_is("ad=sets"))
		delegate &= ~(BIT(CAUSE_LOAD) | BIT(CAUSE_STORE));
	csr_write(medeleg, delegate);
	csr_write(mideleg, 0x2222UL);
	csr_write(mcounteren, hart || !option_is("spares=1") ? ~kept() : ~0UL);
	csr_write(satp, 0);
	if (option_is("sstc=closed"))
		__asm__ volatile("csrw " VSTIMECMP ", %0" ::"r"(~0UL));
	if (hart && option("misa="))
		csr_clear(misa, BIT(*option("misa=") - 'a'));
	/* STCE; PBMTE, ADUE; CBZE, CBCFE, CBIE; and CDE unless this firmware emulates delegated
	 * counters. */
	__asm__ volatile("csrw " MENVCFG ", %0" ::"r"(
	    (option("sstc=") ? 0 : BIT(63)) | (option("tables=") ? 0 : BIT(62) | BIT(61)) |
	    (option("blocks=") ? 0 : 0xf0UL) | (option("delegated=") ? 0 : BIT(60))));
	pmu_init();
	csr_write(mie, MIE_MSIE);
	csr_clear(mstatus, MPP | BIT(39) | BIT(7));
	csr_set(mstatus, MPP_S);
	csr_write(mepc, addr);
	uint64_t id = id_of(hart);
	/* A call in between would clobber these registers. */
	register uint64_t a0 __asm__("a0") = id;
	register uint64_t a1 __asm__("a1") = opaque;

	__asm__ volatile("mret" ::"r"(a0), "r"(a1));
	__builtin_unreachable();
}

void hart_main(uint64_t hart, const char *tree)
{
	struct start *s = &starts[hart % MAX_HARTS];

	if (hart == 0) {
		find_words(tree);
		clusters = option("ids=");
		first_id = option_is("ids=high") ? 0xfffff000UL : 0;
		enter(0, PAYLOAD, (uint64_t)tree);
	}
	csr_write(mie, MIE_MSIE);
	while (!__atomic_load_n(&s->go, __ATOMIC_ACQUIRE)) {
		__asm__ volatile("wfi");
		MSIP[hart] = 0;
	}
	enter(hart, s->addr, s->opaque);
}

static void let_go(uint64_t hart)
{
	__atomic_store_n(&starts[hart].go, 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	MSIP[hart] = 1;
}

static void start_late(void)
{
	if (started_late)
		let_go(started_late - 1);
	started_late = 0;
}

static struct sbi_ret hart_start(uint64_t id, uint64_t addr, uint64_t opaque)
{
	struct sbi_ret ok = {0, 0};
	uint64_t hart = hart_of(id);

	start_late();
	if (hart == MAX_HARTS)
		return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
	if (option_is("hsm=lies"))
		return ok;
	starts[hart].addr = addr;
	starts[hart].opaque = opaque;
	if (option_is("hsm=late"))
		started_late = hart + 1;
	else
		let_go(hart);
	return ok;
}

static struct sbi_ret send_ipi(uint64_t mask, uint64_t base)
{
	static uint32_t sent;

	if (option_is("ipi=fails") || (option_is("ipi=dies") && sent++))
		return (struct sbi_ret){SBI_ERR_FAILED, 0};
	for (uint64_t i = 0; i < MAX_HARTS && !option_is("ipi=lost"); i++)
		if (base == ~0UL || (id_of(i) - base < 64 && mask >> (id_of(i) - base) & 1))
			MSIP[i] = 1;
	return (struct sbi_ret){0, 0};
}

/* --- calls -------------------------------------------------------------------------------- */

static struct sbi_ret base_call(uint64_t fid, uint64_t a0)
{
	struct sbi_ret r = {0, 0};

	if (fid == SBI_BASE_GET_SPEC_VERSION)
		r.value = 2UL << 24;
	else if (fid == SBI_BASE_GET_IMP_ID)
		r.value = 0x7e57;
	else if (fid == SBI_BASE_PROBE_EXTENSION)
		r.value = a0 == SBI_EXT_BASE || a0 == SBI_EXT_TIME || a0 == SBI_EXT_IPI ||
		          a0 == SBI_EXT_HSM || a0 == SBI_EXT_SRST || a0 == SBI_EXT_PMU;
	return r;
}

static void set_timer(uint64_t at)
{
	if (!option("sstc=")) {
		__asm__ volatile("csrw " STIMECMP ", %0" ::"r"(at));
		return;
	}
	MTIMECMP[csr_read(mhartid)] = at;
	csr_clear(mip, IP_STIP);
	csr_set(mie, MIE_MTIE);
}

static struct sbi_ret call(const uint64_t *a, uint64_t eid, uint64_t fid)
{
	switch (eid) {
	case SBI_EXT_BASE:
		return base_call(fid, a[0]);
	case SBI_EXT_TIME:
		set_timer(a[0]);
		return (struct sbi_ret){0, 0};
	case SBI_EXT_IPI:
		return send_ipi(a[0], a[1]);
	case SBI_EXT_HSM:
		if (fid == SBI_HSM_HART_START)
			return hart_start(a[0], a[1], a[2]);
		return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
	case SBI_EXT_SRST:
		start_late();
		/* Time for a hart that was started late to do harm. */
		for (volatile int i = 0; i < 1000000; i++)
			;
		*FINISHER = 0x5555;
		return (struct sbi_ret){0, 0};
	case SBI_EXT_PMU:
		return pmu_call(fid, a);
	default:
		return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
	}
}

/* For a guest, in a root table that hgatp maps by a page of 1 GiB: sets A and D of the entry. */
static void set_ad(void)
{
	uint64_t table = (csr_read(0x280) & (BIT(44) - 1)) << 12;
	const uint64_t *second = (uint64_t *)((csr_read(0x680) & (BIT(44) - 1)) << 12);
	uint64_t *entries =
	    (uint64_t *)((second[table >> 30] >> 10 << 12) + (table & (BIT(30) - 1)));

	entries[csr_read(mtval) >> 30 & 511] |= BIT(6) | BIT(7);
	__asm__ volatile("sfence.vma" ::: "memory");
}

void trapped(struct frame *f)
{
	uint64_t cause = csr_read(mcause);

	if (cause == CAUSE_SOFT) {
		MSIP[csr_read(mhartid)] = 0;
		csr_set(mip, IP_SSIP);
	} else if (cause == CAUSE_TIMER) {
		csr_clear(mie, MIE_MTIE);
		csr_set(mip, IP_STIP);
	} else if (cause == CAUSE_ECALL) {
		struct sbi_ret r = call(&f->x[10], f->x[17], f->x[16]);

		f->x[10] = (uint64_t)r.error;
		f->x[11] = r.value;
		csr_write(mepc, csr_read(mepc) + 4);
	} else if (cause == CAUSE_LOAD || cause == CAUSE_STORE) {
		set_ad();
	} else if (cause == CAUSE_ILL) {
		illegal_instruction(f);
	} else {
		*FINISHER = 0x3333 | (uint32_t)cause << 16;
	}
}
