/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control loop that exchanges messages with another VM through the memory "ring", whose bells
 * both ring; guests/linux/pace.c is the other side. Every period= ticks of `time` it takes what has
 * come, checks it, puts up to batch= new messages, and rings if it has put some, until messages=
 * have gone and as many have come. Then it tells how late its periods began, in ticks.
 *
 * Each side writes its half of the memory, of whose first words one is how many messages it has
 * put, and the next one how many of the other's it has taken. From byte 64 on there are slots of 16
 * bytes, each with a number and its product with the side's key.
 */
#include "guests/lib/bell.h"

#include "guests/bare/io/aia.h"
#include "guests/bare/bare.h"

#define PLIC_PRIORITY 0x0c000000UL
#define PLIC_ENABLE   0x0c002000UL
#define PLIC_CLAIM    0x0c200004UL
#define OWN_KEY       0x9e3779b97f4a7c15UL
#define OTHER_KEY     0xc2b2ae3d27d4eb4fUL
#define LATEST        65536UL /* ticks; what is later counts as this */

static struct bell bell;
static uint32_t source, identity;
static volatile uint64_t *own, *other;
static uint64_t slots, put, taken, wrong, rung, strange, later;
static uint32_t late[LATEST + 1];

static volatile uint32_t *word(uint64_t at)
{
	return (volatile uint32_t *)at;
}

/* Interrupts pend and are not taken: the loop has its own times. */
static void listen(void)
{
	source = bell_read(&bell, BELL_SOURCE);
	identity = bell_read(&bell, BELL_IDENTITY);
	if (identity) {
		aia_write(AIA_EITHRESHOLD, 0);
		aia_write(AIA_EIE0, 1UL << identity);
		aia_write(AIA_EIDELIVERY, 1);
	} else {
		*word(PLIC_PRIORITY + 4 * source) = 1;
		*word(PLIC_ENABLE) = 1U << source;
	}
	csr_set(sie, IRQ_EXTERNAL | IRQ_TIMER);
}

/* Takes the bell's interrupt. */
static void hear(void)
{
	uint64_t topei;
	uint32_t claimed;

	if (identity) {
		__asm__ volatile("csrrw %0, 0x15c, zero" : "=r"(topei)::"memory");
		__asm__ volatile("fence io, rw" ::: "memory");
		strange += topei >> 16 != identity;
	} else {
		claimed = *word(PLIC_CLAIM);
		strange += claimed != source || !(bell_take(&bell) & BELL_RUNG);
		*word(PLIC_CLAIM) = claimed;
	}
	rung++;
}

static void wait_until(uint64_t due)
{
	uint64_t now;

	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, due, 0, 0, 0, 0, 0);
	for (;;) {
		now = csr_read(time);
		if (now >= due)
			break;
		if (csr_read(sip) & IRQ_EXTERNAL)
			hear();
		else
			__asm__ volatile("wfi");
	}
	late[now - due < LATEST ? now - due : LATEST]++;
	later += now - due >= LATEST;
}

static void take(uint64_t messages)
{
	uint64_t there = other[0];

	__asm__ volatile("fence r, r" ::: "memory");
	wrong += there > put || there > messages;
	for (; taken < there && taken < messages; taken++) {
		volatile uint64_t *slot = &other[8 + taken % slots * 2];

		wrong += slot[0] != taken || slot[1] != taken * OTHER_KEY;
	}
	__asm__ volatile("fence r, w" ::: "memory");
	own[1] = taken;
}

static void send(uint64_t messages, uint64_t batch)
{
	uint64_t end = put + batch;

	if (end > messages)
		end = messages;
	/* Each message is answered by one, so there is room for the answers too. */
	if (end > taken + slots)
		end = taken + slots;
	if (end <= put)
		return;
	__asm__ volatile("fence r, w" ::: "memory");
	for (; put < end; put++) {
		volatile uint64_t *slot = &own[8 + put % slots * 2];

		slot[0] = put;
		slot[1] = put * OWN_KEY;
	}
	__asm__ volatile("fence w, w" ::: "memory");
	own[0] = put;
	bell_ring(&bell);
}

/* The lateness that this share of the periods does not exceed: nth of them. */
static uint64_t lateness(uint64_t nth)
{
	uint64_t seen = 0, ticks = 0;

	while (ticks < LATEST && (seen += late[ticks]) < nth)
		ticks++;
	return ticks;
}

int pace(uint64_t hartid)
{
	uint64_t messages = bootarg_num("messages", 1000), batch = bootarg_num("batch", 100);
	uint64_t period = bootarg_num("period", 2000), due, periods = 0;

	(void)hartid;
	csr_clear(sstatus, SSTATUS_SIE);
	if (!bell_find("ring", &bell)) {
		print("pace: there is no bell\n");
		return 1;
	}
	own = (uint64_t *)bell.memory;
	other = (uint64_t *)(bell.memory + bell.size / 2);
	slots = (bell.size / 2 - 64) / 16;
	listen();
	for (due = csr_read(time) + period; taken < messages; due += period, periods++) {
		wait_until(due);
		take(messages);
		send(messages, batch);
	}
	print("pace: %u messages sent, %u taken, %u wrong, ", put, taken, wrong);
	print("%u strange interrupts\n", strange);
	print("pace: rung %u times in %u periods of %u ticks\n", rung, periods, period);
	print("pace: ticks from the time to the loop: least %u, median %u, most %u\n", lateness(1),
	      lateness((periods + 1) / 2), lateness(periods));
	print("pace: %u later than %u ticks\n", later, LATEST);
	return wrong || strange || !rung;
}
