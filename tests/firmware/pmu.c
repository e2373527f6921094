/* SPDX-License-Identifier: Apache-2.0 */
/* The PMU extension of this firmware, for counters 0, 2 and 3 to 18 of the hart. */
#include "tests/firmware/firmware.h"

#define COUNTERS     19U
#define PROGRAMMABLE 0x7fff8UL
#define OF           (1UL << 63)
#define MINH         (1UL << 62)
#define IP_LCOFIP    (1UL << 13)
#define MAX_HARTS    64U

static struct pmu {
	uint64_t configured;
	uint64_t calls, configs; /* calls of START and STOP, and of CONFIG_MATCHING */
} pmus[MAX_HARTS];

static struct pmu *this_pmu(void)
{
	return &pmus[csr_read(mhartid) % MAX_HARTS];
}

/* Counters 3 to 18, or their events. `at` is the number of the bank's first CSR, that of counter
 * 0. */
#define LOW(X, at)  X(at, 3) X(at, 4) X(at, 5) X(at, 6) X(at, 7) X(at, 8) X(at, 9) X(at, 10)
#define HIGH(X, at) X(at, 11) X(at, 12) X(at, 13) X(at, 14) X(at, 15) X(at, 16) X(at, 17) X(at, 18)
#define MCYCLE      0xb00
#define MCYCLECFG   0x321
#define MHPMEVENT   0x320

/* Returns what the CSR held, and writes it if `writes`. Returns 0 if there is none. The CSR number
 * is part of the instruction, so each CSR has its own code. */
static uint64_t access(uint32_t csr, bool writes, uint64_t value)
{
	uint64_t old = 0;

	switch (csr) {
#define X(at, n)                                                                                   \
	case (at) + (n):                                                                           \
		old = csr_read(at + n);                                                            \
		if (writes)                                                                        \
			csr_write(at + n, value);                                                  \
		break;
		X(MCYCLE, 0)
		X(MCYCLE, 2)
		LOW(X, MCYCLE)
		HIGH(X, MCYCLE)
		X(MCYCLECFG, 0)
		X(MCYCLECFG, 1)
		LOW(X, MHPMEVENT)
		HIGH(X, MHPMEVENT)
#undef X
	}
	return old;
}

static uint32_t counter_csr(uint32_t idx)
{
	return MCYCLE + idx;
}

/* The event CSR of counter 0 is where that of counter 1 would be. */
static uint32_t event_csr(uint32_t idx)
{
	return idx == 0 ? MCYCLECFG : idx == 1 ? 0 : MHPMEVENT + idx;
}

uint64_t pmu_counter(uint32_t idx)
{
	return access(counter_csr(idx), false, 0);
}

void pmu_set_counter(uint32_t idx, uint64_t value)
{
	access(counter_csr(idx), true, value);
}

uint64_t pmu_event(uint32_t idx)
{
	return access(event_csr(idx), false, 0);
}

void pmu_set_event(uint32_t idx, uint64_t value)
{
	access(event_csr(idx), true, value);
}

void pmu_init(void)
{
	csr_write(mcountinhibit, PROGRAMMABLE);
	for (uint32_t i = 3; i < COUNTERS; i++)
		pmu_set_event(i, OF | MINH);
}

static uint64_t number(const char **text)
{
	uint64_t n = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		n = n * 10 + (uint64_t)(**text - '0');
	return n;
}

/* Whether this call is the one that must fail. */
static bool fails(const char *word, uint64_t call)
{
	const char *text = option(word);
	uint64_t first, step = 0;

	if (!text)
		return false;
	first = number(&text);
	if (*text == '/') {
		text++;
		step = number(&text);
	}
	return call == first || (step && call > first && (call - first) % step == 0);
}

static uint64_t filters(uint64_t flags)
{
	uint64_t bits = option_is("minh=unset") ? 0 : MINH;

	if (option_is("filter=ignored"))
		return bits;
	if (flags & SBI_PMU_CFG_FLAG_SET_SINH)
		bits |= BIT(61);
	if (flags & SBI_PMU_CFG_FLAG_SET_UINH)
		bits |= BIT(60);
	if (flags & SBI_PMU_CFG_FLAG_SET_VSINH)
		bits |= BIT(59);
	if (flags & SBI_PMU_CFG_FLAG_SET_VUINH)
		bits |= BIT(58);
	return bits;
}

static uint64_t able(uint64_t event)
{
	if (option_is("events=none"))
		return 0;
	switch (event) {
	case SBI_PMU_HW_CPU_CYCLES:
		return PROGRAMMABLE | BIT(0);
	case SBI_PMU_HW_INSTRUCTIONS:
		return PROGRAMMABLE | BIT(2);
	case 0x10019:
	case 0x1001b:
	case 0x10021:
		return PROGRAMMABLE;
	default:
		return 0;
	}
}

static struct sbi_ret config(struct pmu *pmu, uint64_t set, uint64_t flags, uint64_t event)
{
	/* Fixed counters are chosen last, and can be configured again. */
	uint64_t free = set & able(event) & ~(pmu->configured & PROGRAMMABLE);

	if (fails("fail-config=", ++pmu->configs))
		return (struct sbi_ret){SBI_ERR_FAILED, 0};
	if (free & PROGRAMMABLE)
		free &= PROGRAMMABLE;
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(free & BIT(i)))
			continue;
		pmu->configured |= BIT(i);
		pmu_set_event(i, filters(flags) | (i > 2 ? OF | event : 0));
		return (struct sbi_ret){0, i};
	}
	return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
}

static void start_flag(uint32_t i)
{
	bool pends = csr_read(mip) & IP_LCOFIP;

	if (i < 3 || option_is("start=never"))
		return;
	if (option_is("start=sets"))
		pmu_set_event(i, pmu_event(i) | OF);
	if (!pends || option_is("start=clears"))
		pmu_set_event(i, pmu_event(i) & ~OF);
}

static struct sbi_ret start(struct pmu *pmu, uint64_t set, uint64_t flags, uint64_t value)
{
	long error = 0;

	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(set & BIT(i)))
			continue;
		if (!(pmu->configured & BIT(i))) {
			error = SBI_ERR_INVALID_PARAM;
		} else if (!(csr_read(mcountinhibit) & BIT(i))) {
			error = SBI_ERR_ALREADY_STARTED;
		} else {
			start_flag(i);
			if (flags & SBI_PMU_START_SET_INIT_VALUE)
				pmu_set_counter(i, value);
			csr_clear(mcountinhibit, BIT(i));
		}
	}
	return (struct sbi_ret){error, 0};
}

static struct sbi_ret stop(struct pmu *pmu, uint64_t set, uint64_t flags)
{
	long error = 0;

	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(set & BIT(i)) || option_is("stop=ignored"))
			continue;
		if (csr_read(mcountinhibit) & BIT(i))
			error = SBI_ERR_ALREADY_STOPPED;
		csr_set(mcountinhibit, BIT(i));
		if (flags & SBI_PMU_STOP_FLAG_RESET) {
			pmu->configured &= ~BIT(i);
			pmu_set_event(i, 0);
		}
	}
	return (struct sbi_ret){error, 0};
}

static struct sbi_ret info(uint64_t idx)
{
	if (idx >= COUNTERS || idx == 1)
		return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
	return (struct sbi_ret){0, 63UL << SBI_PMU_INFO_WIDTH_SHIFT | (0xc00 + idx)};
}

struct sbi_ret pmu_call(uint64_t fid, const uint64_t *a)
{
	struct pmu *pmu = this_pmu();
	uint64_t set = a[0] < 64 ? a[1] << a[0] : 0;

	switch (fid) {
	case SBI_PMU_NUM_COUNTERS:
		return (struct sbi_ret){0, COUNTERS};
	case SBI_PMU_COUNTER_GET_INFO:
		return info(a[0]);
	case SBI_PMU_COUNTER_CONFIG_MATCHING:
		return config(pmu, set, a[2], a[3]);
	case SBI_PMU_COUNTER_START:
	case SBI_PMU_COUNTER_STOP:
		if (fails("fail=", ++pmu->calls))
			return (struct sbi_ret){SBI_ERR_FAILED, 0};
		return fid == SBI_PMU_COUNTER_START ? start(pmu, set, a[2], a[3])
		                                    : stop(pmu, set, a[2]);
	default:
		return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
	}
}
