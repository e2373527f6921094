/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that runs a bare guest under Linux's KVM: one VM, one piece of RAM, one vcpu. A
 * process of a Debian system; what the guest prints is its standard output.
 *
 * Linux programs the hart's counters anew whenever the process gets the CPU back. So that a run
 * finds out about KVM and not about the other processes, it does not let go of the CPU: it has a
 * real-time priority, and writes in one go at the end, since it would have to wait for the console.
 *
 *   vmm KERNEL [BOOTARGS]
 *
 * Exit status: 0 the guest shut down well, 1 it shut down because something failed, 2 it could
 * not be run, or did what nobody answers.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "guests/kvm/tree.h"

#define RAM_BASE   0x80000000UL
#define RAM_SIZE   (64UL << 20)
#define KERNEL_OFF 0x200000UL              /* as Tally and OpenSBI load it */
#define TREE_OFF   (RAM_SIZE - TREE_SPACE) /* far behind any bare guest's image */

/* What headers older than the kernel lack. */
#define REG_SBI_EXT  (8UL << KVM_REG_RISCV_TYPE_SHIFT)
#define SBI_EXT_PMU  6UL /* KVM's own numbering of the SBI extensions */
#define SBI_EXT_DBCN 9UL

#define DBCN              0x4442434eUL /* the SBI's numbering */
#define DBCN_WRITE        0UL
#define DBCN_READ         1UL
#define DBCN_WRITE_BYTE   2UL
#define SBI_FAILED        (-1UL)
#define SBI_NOT_SUPPORTED (-2UL)
#define SBI_BAD_PARAM     (-3UL)

#define UART_BASE 0x10000000UL
#define UART_LSR  5UL
#define LSR_IDLE  0x60 /* room to send, nothing received */

#define TIME_LIMIT 30 /* seconds of the host's clock; then what was printed is shown */

static uint8_t *ram;

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("vmm: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

/* An ioctl that must work. */
static int must(int fd, unsigned long request, void *arg, const char *what)
{
	int got = ioctl(fd, request, arg);

	if (got < 0)
		die("%s: %s", what, strerror(errno));
	return got;
}

static uint64_t reg_id(uint64_t type, uint64_t number)
{
	return KVM_REG_RISCV | KVM_REG_SIZE_U64 | type | number;
}

static uint64_t get_reg(int vcpu, uint64_t id, const char *what)
{
	uint64_t value = 0;
	struct kvm_one_reg reg = {.id = id, .addr = (uintptr_t)&value};

	must(vcpu, KVM_GET_ONE_REG, &reg, what);
	return value;
}

static void set_reg(int vcpu, uint64_t id, uint64_t value, const char *what)
{
	struct kvm_one_reg reg = {.id = id, .addr = (uintptr_t)&value};

	must(vcpu, KVM_SET_ONE_REG, &reg, what);
}

static void set_core(int vcpu, size_t offset, uint64_t value, const char *what)
{
	set_reg(vcpu, reg_id(KVM_REG_RISCV_CORE, offset / sizeof(long)), value, what);
}

static void load(const char *path)
{
	size_t room = TREE_OFF - KERNEL_OFF;
	FILE *file = fopen(path, "rb");

	if (!file)
		die("%s: %s", path, strerror(errno));
	if (!fread(ram + KERNEL_OFF, 1, room, file) || ferror(file) || fgetc(file) != EOF)
		die("%s: empty, unreadable, or more than %zu bytes", path, room);
	fclose(file);
}

static int make_vm(int kvm)
{
	int vm = must(kvm, KVM_CREATE_VM, NULL, "making a VM");
	struct kvm_userspace_memory_region slot = {
	    .guest_phys_addr = RAM_BASE,
	    .memory_size = RAM_SIZE,
	};

	ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ram == MAP_FAILED)
		die("no memory for the guest");
	slot.userspace_addr = (uintptr_t)ram;
	must(vm, KVM_SET_USER_MEMORY_REGION, &slot, "giving the VM memory");
	return vm;
}

/* Entered as the SBI says: S-mode, a0 = hartid, a1 = device tree. */
static int make_vcpu(int vm, const char *bootargs)
{
	int vcpu = must(vm, KVM_CREATE_VCPU, NULL, "making a vcpu");
	uint64_t timebase = get_reg(vcpu, reg_id(KVM_REG_RISCV_TIMER, 0), "timebase");

	/* ISA extensions that the host has are on unless switched off; DBCN is off, because it is
	 * answered here. */
	set_reg(vcpu, reg_id(REG_SBI_EXT, SBI_EXT_DBCN), 1, "the SBI's console");
	if (!get_reg(vcpu, reg_id(REG_SBI_EXT, SBI_EXT_PMU), "the SBI's PMU"))
		die("KVM offers no PMU: the host lacks sscofpmf");
	if (!make_tree(ram + TREE_OFF, RAM_BASE, RAM_SIZE, timebase, bootargs))
		die("bootargs too long");
	set_core(vcpu, offsetof(struct kvm_riscv_core, regs.pc), RAM_BASE + KERNEL_OFF, "pc");
	set_core(vcpu, offsetof(struct kvm_riscv_core, regs.a0), 0, "a0");
	set_core(vcpu, offsetof(struct kvm_riscv_core, regs.a1), RAM_BASE + TREE_OFF, "a1");
	set_core(vcpu, offsetof(struct kvm_riscv_core, mode), KVM_RISCV_MODE_S, "mode");
	return vcpu;
}

static void put(const uint8_t *bytes, size_t n)
{
	fwrite(bytes, 1, n, stdout);
}

/* Sets a0 and a1 of the guest's call. */
static void serve_sbi(struct kvm_run *run)
{
	const unsigned long *args = run->riscv_sbi.args;
	unsigned long *ret = run->riscv_sbi.ret;
	uint8_t byte = (uint8_t)args[0];

	ret[0] = SBI_NOT_SUPPORTED;
	ret[1] = 0;
	if (run->riscv_sbi.extension_id != DBCN)
		return;
	switch (run->riscv_sbi.function_id) {
	case DBCN_WRITE:
		ret[0] = SBI_BAD_PARAM;
		if (args[2] || args[1] < RAM_BASE || args[1] - RAM_BASE > RAM_SIZE ||
		    args[0] > RAM_SIZE - (args[1] - RAM_BASE))
			return;
		put(ram + (args[1] - RAM_BASE), args[0]);
		ret[0] = 0;
		ret[1] = args[0];
		return;
	case DBCN_READ: /* nobody types */
		ret[0] = 0;
		return;
	case DBCN_WRITE_BYTE:
		put(&byte, 1);
		ret[0] = 0;
		return;
	default:
		return;
	}
}

/* KVM on RISC-V has no way to answer with an access fault: holes read 0 and swallow writes. */
static void serve_mmio(struct kvm_run *run)
{
	if (!run->mmio.is_write)
		memset(run->mmio.data, 0, sizeof(run->mmio.data));
	if (run->mmio.is_write && run->mmio.phys_addr == UART_BASE)
		put(run->mmio.data, 1);
	else if (!run->mmio.is_write && run->mmio.phys_addr == UART_BASE + UART_LSR)
		run->mmio.data[0] = LSR_IDLE;
}

static void time_is_up(int number)
{
	(void)number; /* that KVM_RUN is interrupted is all */
}

/* Runs the guest to its end; the exit status. */
static int serve(int vcpu, struct kvm_run *run)
{
	for (;;) {
		if (ioctl(vcpu, KVM_RUN, NULL) < 0) {
			die("running the guest: %s",
			    errno == EINTR ? "time is up" : strerror(errno));
		}
		switch (run->exit_reason) {
		case KVM_EXIT_RISCV_SBI:
			serve_sbi(run);
			break;
		case KVM_EXIT_MMIO:
			serve_mmio(run);
			break;
		case KVM_EXIT_SYSTEM_EVENT:
			fflush(stdout);
			if (run->system_event.type != KVM_SYSTEM_EVENT_SHUTDOWN)
				die("the guest ended by event %u", run->system_event.type);
			return run->system_event.data[0] ? 1 : 0;
		default:
			die("exit reason %u", run->exit_reason);
		}
	}
}

int main(int argc, char **argv)
{
	int kvm, vm, vcpu;
	size_t size;
	struct kvm_run *run;

	if (argc < 2 || argc > 3)
		die("usage: vmm KERNEL [BOOTARGS]");
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = time_is_up}, NULL);
	alarm(TIME_LIMIT);
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) < 0)
		die("real-time priority: %s", strerror(errno));
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		die("/dev/kvm: %s", strerror(errno));
	vm = make_vm(kvm);
	load(argv[1]);
	vcpu = make_vcpu(vm, argc > 2 ? argv[2] : "");
	size = (size_t)must(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "the size of kvm_run");
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		die("no kvm_run");
	return serve(vcpu, run);
}
