/* SPDX-License-Identifier: Apache-2.0 */
/* Console, firmware calls and guest entry, which every part of the spike needs. */
#include "tests/spike/spike.h"

#include <stdarg.h>

#define SBI_EXT_DBCN 0x4442434EUL

volatile uint64_t hs_trap_cause;
unsigned passed, failed;

struct sbiret sbi(unsigned long ext, unsigned long fid, unsigned long a0, unsigned long a1,
                  unsigned long a2, unsigned long a3, unsigned long a4)
{
	register unsigned long r0 __asm__("a0") = a0;
	register unsigned long r1 __asm__("a1") = a1;
	register unsigned long r2 __asm__("a2") = a2;
	register unsigned long r3 __asm__("a3") = a3;
	register unsigned long r4 __asm__("a4") = a4;
	register unsigned long r6 __asm__("a6") = fid;
	register unsigned long r7 __asm__("a7") = ext;

	__asm__ volatile("ecall"
	                 : "+r"(r0), "+r"(r1)
	                 : "r"(r2), "r"(r3), "r"(r4), "r"(r6), "r"(r7)
	                 : "memory");
	return (struct sbiret){(long)r0, (long)r1};
}

/* The compiler calls it for large initialisers. */
void *memset(void *dst, int c, size_t n);
void *memset(void *dst, int c, size_t n)
{
	for (volatile unsigned char *p = dst; n; n--)
		*p++ = (unsigned char)c;
	return dst;
}

static void put_str(const char *s, size_t len)
{
	sbi(SBI_EXT_DBCN, 0, len, (unsigned long)s, 0, 0, 0);
}

static void put_num(uint64_t v, unsigned base)
{
	char buf[20];
	size_t i = sizeof(buf);

	do {
		buf[--i] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	put_str(buf + i, sizeof(buf) - i);
}

void print(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	while (*fmt) {
		const char *end = fmt;

		while (*end && *end != '%')
			end++;
		if (end != fmt)
			put_str(fmt, (size_t)(end - fmt));
		fmt = end;
		if (!*fmt)
			break;
		fmt++;
		if (*fmt == 's') {
			const char *s = va_arg(ap, const char *);
			size_t n = 0;

			while (s[n])
				n++;
			put_str(s, n);
		} else if (*fmt == 'd') {
			int64_t v = va_arg(ap, int64_t);

			if (v < 0)
				put_str("-", 1);
			put_num(v < 0 ? -(uint64_t)v : (uint64_t)v, 10);
		} else {
			put_num(va_arg(ap, uint64_t), *fmt == 'x' ? 16 : 10);
		}
		fmt++;
	}
	va_end(ap);
}

void check(bool ok, const char *name)
{
	if (ok)
		passed++;
	else
		failed++;
	print("%s %s\n", ok ? "PASS" : "FAIL", name);
}

void check_eq(uint64_t got, uint64_t want, const char *name)
{
	check(got == want, name);
	if (got != want)
		print("     got %u (0x%x), want %u (0x%x)\n", got, got, want, want);
}

uint64_t hpm_read(uint32_t ctr)
{
	switch (ctr) {
	case 3:
		return csr_read(0xc03);
	case 4:
		return csr_read(0xc04);
	case 5:
		return csr_read(0xc05);
	case 6:
		return csr_read(0xc06);
	case 17:
		return csr_read(0xc11);
	default:
		return csr_read(0xc12);
	}
}

void guest_init(struct ctx *ctx, void (*entry)(void), uint64_t a0)
{
	static uint64_t scratch[2][2];

	*ctx = (struct ctx){.pc = (uint64_t)entry};
	ctx->x[10] = a0;
	ctx->x[11] = (uint64_t)scratch[entry == guest_mem_loop];
	ctx->sstatus = (csr_read(sstatus) & ~2UL) | (1UL << 8); /* SPP: to VS */
	ctx->hstatus = (csr_read(CSR_HSTATUS) & ~(1UL << 21)) | (1UL << 7) | (1UL << 8);
}

uint64_t guest_run(struct ctx *ctx, uint64_t ticks)
{
	csr_write(CSR_STIMECMP, ticks ? csr_read(time) + ticks : -1UL);
	enter_guest(ctx);
	csr_write(CSR_STIMECMP, -1UL);
	return csr_read(scause);
}

uint32_t rnd(uint32_t below)
{
	static uint64_t x = 0x9e3779b97f4a7c15UL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32) % below;
}
