/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal VMM for Linux's KVM: one VM, one RAM region, one vcpu. It is a process of a Debian
 * system; the guest's output is its standard output.
 *
 * Linux programs the hart's counters again whenever the process gets the CPU back. The run is about
 * KVM and not about other processes, so the VMM keeps the CPU: it has real-time priority, and
 * writes the output in one go at the end, because writing to the console would block.
 *
 *   vmm [-i INITRD] [-m MIB] [-t SECONDS] [-u] KERNEL [BOOTARGS]
 *
 *   -i   the guest's initrd
 *   -m   RAM in MiB, default 64
 *   -t   after SECONDS of the host's clock, default 30, the guest has failed
 *   -u   each line is written at once, for hosts that a guest may crash
 *
 * Exit status: 0 the guest shut down normally, 1 it shut down because of a failure, 2 it could not
 * be run, or did something that is not emulated.
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
#include "guests/kvm/uart.h"

#define RAM_BASE   0x80000000UL
#define HUGE_PAGE  0x200000UL
#define KERNEL_OFF 0x200000UL   /* where Tally and OpenSBI load it, too */
#define INITRD_OFF (64UL << 20) /* above any kernel */

#define ISA_FILE "/proc/device-tree/cpus/cpu@0/riscv,isa"

/* Missing in headers older than the kernel. */
#define REG_SBI_EXT   (8UL << KVM_REG_RISCV_TYPE_SHIFT)
#define CONFIG_ZICBOM 1UL /* of struct kvm_riscv_config */
#define CONFIG_ZICBOZ 5UL
#define SBI_EXT_PMU   6UL /* KVM's own numbering of the SBI extensions */
#define SBI_EXT_DBCN  9UL

#define DBCN              0x4442434eUL /* the SBI's extension id */
#define DBCN_WRITE        0UL
#define DBCN_READ         1UL
#define DBCN_WRITE_BYTE   2UL
#define SBI_FAILED        (-1UL)
#define SBI_NOT_SUPPORTED (-2UL)
#define SBI_BAD_PARAM     (-3UL)

struct options {
	const char *kernel, *initrd, *bootargs;
	unsigned int seconds;
};

static uint8_t *ram;
static size_t ram_size = 64UL << 20;

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

/* Makes an ioctl that must not fail. */
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

/* Returns a number of the vcpu's configuration, or 0 if KVM has no such register. */
static uint32_t config(int vcpu, uint64_t number)
{
	uint64_t value = 0;
	struct kvm_one_reg reg = {.id = reg_id(KVM_REG_RISCV_CONFIG, number),
	                          .addr = (uintptr_t)&value};

	return ioctl(vcpu, KVM_GET_ONE_REG, &reg) < 0 ? 0 : (uint32_t)value;
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

/* The device tree is at the end of RAM, everything else below it. */
static size_t tree_off(void)
{
	return ram_size - TREE_SPACE;
}

/* Reads a file to an offset of RAM, and returns its size. */
static size_t load(const char *path, size_t offset)
{
	size_t room = offset < tree_off() ? tree_off() - offset : 0, size;
	FILE *file = fopen(path, "rb");

	if (!file)
		die("%s: %s", path, strerror(errno));
	size = fread(ram + offset, 1, room, file);
	if (!size || ferror(file) || fgetc(file) != EOF)
		die("%s: empty, unreadable, or more than %zu bytes", path, room);
	fclose(file);
	return size;
}

/* Uses huge pages if the host has them, like any VMM. */
static int make_vm(int kvm)
{
	int vm = must(kvm, KVM_CREATE_VM, NULL, "making a VM");
	struct kvm_userspace_memory_region slot = {
	    .guest_phys_addr = RAM_BASE,
	    .memory_size = ram_size,
	};

	ram = mmap(NULL, ram_size + HUGE_PAGE, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ram == MAP_FAILED)
		die("no memory for the guest");
	ram += -(uintptr_t)ram % HUGE_PAGE;
	(void)madvise(ram, ram_size, MADV_HUGEPAGE);
	slot.userspace_addr = (uintptr_t)ram;
	must(vm, KVM_SET_USER_MEMORY_REGION, &slot, "giving the VM memory");
	return vm;
}

static void read_isa(char *isa, size_t size)
{
	FILE *file = fopen(ISA_FILE, "rb");
	size_t n = file ? fread(isa, 1, size - 1, file) : 0;

	if (!n)
		die("%s: %s", ISA_FILE, strerror(errno));
	fclose(file);
	isa[n] = 0;
}

/* The entry state is that of the SBI: S-mode, a0 = hartid, a1 = device tree. */
static int make_vcpu(int vm, const struct options *options)
{
	int vcpu = must(vm, KVM_CREATE_VCPU, NULL, "making a vcpu");
	char isa[1024];
	struct tree tree = {
	    .ram_base = RAM_BASE,
	    .ram_size = ram_size,
	    .timebase = get_reg(vcpu, reg_id(KVM_REG_RISCV_TIMER, 0), "timebase"),
	    .isa = isa,
	    .cbom_block = config(vcpu, CONFIG_ZICBOM),
	    .cboz_block = config(vcpu, CONFIG_ZICBOZ),
	    .bootargs = options->bootargs,
	};

	if (options->initrd) {
		tree.initrd = RAM_BASE + INITRD_OFF;
		tree.initrd_end = tree.initrd + load(options->initrd, INITRD_OFF);
	}
	read_isa(isa, sizeof(isa));
	/* ISA extensions of the host are on unless they are switched off. DBCN is off, because this
	 * program implements it. */
	set_reg(vcpu, reg_id(REG_SBI_EXT, SBI_EXT_DBCN), 1, "the SBI's console");
	if (!get_reg(vcpu, reg_id(REG_SBI_EXT, SBI_EXT_PMU), "the SBI's PMU"))
		die("KVM offers no PMU: the host lacks sscofpmf");
	if (!make_tree(ram + tree_off(), &tree))
		die("bootargs too long");
	set_core(vcpu, offsetof(struct kvm_riscv_core, regs.pc), RAM_BASE + KERNEL_OFF, "pc");
	set_core(vcpu, offsetof(struct kvm_riscv_core, regs.a0), 0, "a0");
	set_core(vcpu, offsetof(struct kvm_riscv_core, regs.a1), RAM_BASE + tree_off(), "a1");
	set_core(vcpu, offsetof(struct kvm_riscv_core, mode), KVM_RISCV_MODE_S, "mode");
	return vcpu;
}

static void put(const uint8_t *bytes, size_t n)
{
	fwrite(bytes, 1, n, stdout);
}

/* Sets a0 and a1 as the result of the guest's call. */
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
		if (args[2] || args[1] < RAM_BASE || args[1] - RAM_BASE > ram_size ||
		    args[0] > ram_size - (args[1] - RAM_BASE))
			return;
		put(ram + (args[1] - RAM_BASE), args[0]);
		ret[0] = 0;
		ret[1] = args[0];
		return;
	case DBCN_READ: /* there is no input */
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

/* KVM on RISC-V cannot inject an access fault, so holes read 0 and ignore writes. */
static void serve_mmio(struct kvm_run *run)
{
	uint64_t reg = run->mmio.phys_addr - UART_BASE;

	if (!run->mmio.is_write)
		memset(run->mmio.data, 0, sizeof(run->mmio.data));
	if (reg >= UART_SIZE)
		return;
	if (run->mmio.is_write)
		uart_write(reg, run->mmio.data[0]);
	else
		run->mmio.data[0] = uart_read(reg);
}

static void time_is_up(int number)
{
	(void)number; /* the signal only has to interrupt KVM_RUN */
}

/* Runs the guest to its end, and returns the exit status. */
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

static struct options parse(int argc, char **argv)
{
	struct options options = {.bootargs = "", .seconds = 30};
	int option;

	while ((option = getopt(argc, argv, "i:m:t:u")) != -1) {
		if (option == 'i')
			options.initrd = optarg;
		else if (option == 'm')
			ram_size = strtoul(optarg, NULL, 10) << 20;
		else if (option == 'u')
			setvbuf(stdout, NULL, _IOLBF, 0);
		else if (option == 't')
			options.seconds = (unsigned int)strtoul(optarg, NULL, 10);
		else
			die("usage: vmm [-i INITRD] [-m MIB] [-t SECONDS] [-u] KERNEL [BOOTARGS]");
	}
	if (argc - optind < 1 || argc - optind > 2)
		die("usage: vmm [-i INITRD] [-m MIB] [-t SECONDS] [-u] KERNEL [BOOTARGS]");
	options.kernel = argv[optind];
	if (optind + 1 < argc)
		options.bootargs = argv[optind + 1];
	return options;
}

int main(int argc, char **argv)
{
	struct options options;
	int kvm, vm, vcpu;
	size_t size;
	struct kvm_run *run;

	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	options = parse(argc, argv);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = time_is_up}, NULL);
	alarm(options.seconds);
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}) < 0)
		die("real-time priority: %s", strerror(errno));
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		die("/dev/kvm: %s", strerror(errno));
	vm = make_vm(kvm);
	load(options.kernel, KERNEL_OFF);
	vcpu = make_vcpu(vm, &options);
	size = (size_t)must(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "the size of kvm_run");
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		die("no kvm_run");
	return serve(vcpu, run);
}
