/* SPDX-License-Identifier: Apache-2.0 */
/* illegal N: executes N illegal instructions, each of which traps to M-mode first, and skips
 * them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static void step_over(int number, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)number;
	(void)info;
	user->uc_mcontext.__gregs[REG_PC] += 4;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = step_over;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, NULL);
	for (long i = 0; i < n; i++)
		__asm__ volatile(".option push\n.option norvc\n.word 0xffffffff\n.option pop");
	return 0;
}
