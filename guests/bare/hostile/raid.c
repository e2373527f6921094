/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a virtio entropy device write to where it may not, and read from there, life after life.
 *   targets=A,B   guest physical addresses: for each of them a buffer is there, the table of
 *                 descriptors, the ring of the driver and that of the device
 *   at=DEVFN      the device's place on the bus, device * 8 + function (1.0)
 *   gap=N         ticks of `time` from one attempt to the next (10000)
 *   slow=DEVFN    another one, which fills a buffer each 100 ms. At first nothing may be in its
 *                 buffers, nor come there, of a life before; at the end it has all of them
 *   tell=yes      prints a line before each attempt
 *   end=operator  then goes on with its attempts until somebody ends it; without, restarts itself
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/rng.h"

#define BYTES    8U
#define SLOW     64U        /* bytes of a buffer of the slow device */
#define PERIOD   (100 * MS) /* of the slow device */
#define PATIENCE (1000 * MS)

enum { BUFFER, TABLE, DRIVER, DEVICE, WAYS };

static struct rng_rings rings, slow_rings;
static uint8_t inside[BYTES], late[RNG_QUEUE * SLOW] __attribute__((aligned(64)));
static struct rng rng, slow;
static uint64_t dead; /* attempts at which the device did not answer */

/* Returns whether the device takes up the queue or needs a reset. */
static bool has_answer(void)
{
	uint64_t end = csr_read(time) + PATIENCE;

	while (!rng_used(&rings) && !(rng_status(&rng) & RNG_BROKEN)) {
		if (csr_read(time) >= end)
			return false;
	}
	return true;
}

static void try_it(uint64_t target, uint32_t way)
{
	uint64_t places[WAYS] = {(uint64_t)inside, (uint64_t)rings.descriptors,
	                         (uint64_t)&rings.available, (uint64_t)&rings.used};

	places[way] = target;
	*(volatile uint16_t *)&rings.used.index = 0;
	*(volatile uint16_t *)&rings.available.index = 0;
	if (!rng_reset(&rng)) {
		dead++;
		return;
	}
	rng_start(&rng, places[TABLE], places[DRIVER], places[DEVICE], RNG_NO_VECTOR);
	rng_offer(&rng, &rings, 0, places[BUFFER], BYTES);
	/* Nobody answers by a ring that is elsewhere. */
	if (way == BUFFER)
		dead += !has_answer();
}

static uint64_t try_all(void)
{
	const char *targets = bootarg("targets");
	uint64_t gap = bootarg_num("gap", 10000), target, n = 0;
	bool tell = bootarg_is("tell", "yes");

	while (next_number(&targets, &target)) {
		for (uint32_t way = 0; way < WAYS; way++, n++) {
			if (tell)
				print("raid: at 0x%x by %u\n", target, way);
			try_it(target, way);
			sleep_for(gap);
		}
	}
	return n;
}

/* Whether the device still fills what is the guest's. */
static bool works(void)
{
	volatile uint8_t *bytes = inside;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < BYTES; i++)
		bytes[i] = 0;
	try_it((uint64_t)inside, BUFFER);
	for (uint32_t i = 0; i < BYTES; i++)
		sum |= bytes[i];
	return rng_used(&rings) == 1 && sum;
}

static uint64_t bytes_of_a_life_before(void)
{
	volatile uint8_t *bytes = late;
	uint64_t n = 0;

	for (uint32_t i = 0; i < sizeof(late); i++)
		n += bytes[i] != 0;
	return n;
}

static bool start_slow(void)
{
	if (!rng_find(&slow, pci_page((uint32_t)bootarg_num("slow", 0))) || !rng_reset(&slow))
		return false;
	rng_start(&slow, (uint64_t)slow_rings.descriptors, (uint64_t)&slow_rings.available,
	          (uint64_t)&slow_rings.used, RNG_NO_VECTOR);
	for (uint32_t i = 0; i < RNG_QUEUE; i++)
		rng_offer(&slow, &slow_rings, i, (uint64_t)late + (uint64_t)i * SLOW, SLOW);
	return true;
}

int raid(uint64_t hartid)
{
	uint64_t before = bytes_of_a_life_before(), n;

	(void)hartid;
	if (bootarg("slow")) {
		sleep_for(PERIOD + PERIOD / 5);
		before += bytes_of_a_life_before();
	}
	if (!rng_find(&rng, pci_page((uint32_t)bootarg_num("at", 8)))) {
		print("raid: no rng\n");
		return 1;
	}
	n = try_all();
	print("raid: %u bytes of a life before, %u attempts, %u without an answer", before, n,
	      dead);
	print(", the device %s\n", works() ? "works" : "is dead");
	if (bootarg("slow") && !start_slow())
		print("raid: no slow rng\n");
	while (bootarg_is("end", "operator"))
		try_all();
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 1;
}
