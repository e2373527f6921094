/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does one thing, what=NAME, at the ticks `at=A,B,...` of each frame of `frame=` ticks, so that
 * what follows from it comes when a window of another VM is about to begin. With `span=` each time
 * `step=` ticks later than the time before, but less than `span=` in all. It goes on for ever.
 *   alarm   sets its clock's alarm to the tick `due=` of the frame
 *   beat    a heartbeat (heartbeat-ms)
 *   bell    rings the bell of the memory "ring"
 *   fault   a device with DMA at 00:01.0 writes where it may not, `each=` times
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/rng.h"
#include "guests/bare/io/rtc.h"
#include "guests/lib/bell.h"

#define TICKS     8U
#define NS_A_TICK 100U
#define DEVFN     8U           /* 00:01.0 */
#define NOWHERE   0x70000000UL /* not the VM's */
#define PATIENCE  (10 * MS)

static struct bell bell;
static struct rng rng;
static struct rng_rings rings;

static void alarm_at(void)
{
	uint64_t frame = bootarg_num("frame", 0);
	uint64_t ticks = (bootarg_num("due", 0) + frame - csr_read(time) % frame) % frame;

	*rtc_reg(RTC_CLEAR_IRQ) = 1;
	*rtc_reg(RTC_IRQ_ENABLED) = 1;
	rtc_set_alarm(rtc() + ticks * NS_A_TICK);
}

static void beat(void)
{
	sbi_call(SBI_EXT_TALLY, SBI_TALLY_RING, 0, 0, 0, 0, 0, 0);
}

static void ring(void)
{
	bell_ring(&bell);
}

static void fault(void)
{
	for (uint64_t n = bootarg_num("each", 1); n; n--) {
		uint64_t end = csr_read(time) + PATIENCE;

		*(volatile uint16_t *)&rings.used.index = 0;
		*(volatile uint16_t *)&rings.available.index = 0;
		if (!rng_reset(&rng))
			return;
		rng_start(&rng, (uint64_t)rings.descriptors, (uint64_t)&rings.available,
		          (uint64_t)&rings.used, RNG_NO_VECTOR);
		rng_offer(&rng, &rings, 0, NOWHERE, 8);
		while (!rng_used(&rings) && !(rng_status(&rng) & RNG_BROKEN) &&
		       csr_read(time) < end)
			;
	}
}

static const struct {
	const char *name;
	void (*act)(void);
} acts[] = {{"alarm", alarm_at}, {"beat", beat}, {"bell", ring}, {"fault", fault}};

static bool prepare(void)
{
	if (bootarg_is("what", "bell"))
		return bell_find("ring", &bell);
	return !bootarg_is("what", "fault") || rng_find(&rng, pci_page(DEVFN));
}

/* Computes until one of these ticks of a frame, `shift` later. */
static void await(uint64_t frame, const uint64_t *at, uint64_t n, uint64_t shift)
{
	uint64_t before = csr_read(time) % frame, now;

	for (;; before = now) {
		now = csr_read(time) % frame;
		for (uint64_t i = 0; i < n; i++) {
			uint64_t tick = (at[i] + shift) % frame;

			if ((before < tick || now < before) && now >= tick)
				return;
		}
	}
}

int ambush(uint64_t hartid)
{
	uint64_t span = bootarg_num("span", 1), step = bootarg_num("step", 0), shift = 0;
	uint64_t frame = bootarg_num("frame", 0), at[TICKS], n = 0;
	const char *ticks = bootarg("at");

	(void)hartid;
	while (n < TICKS && next_number(&ticks, &at[n]))
		n++;
	for (unsigned i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (!bootarg_is("what", acts[i].name) || !prepare())
			continue;
		for (;; shift = (shift + step) % span) {
			acts[i].act();
			await(frame, at, n, shift);
		}
	}
	print("ambush: what= is none of its acts, or it lacks the device\n");
	return 1;
}
