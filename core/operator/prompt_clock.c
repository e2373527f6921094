/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt's `time`: the machine's time of day. */
#include "arch/riscv/hart/csr.h"
#include "core/lib/date.h"
#include "core/operator/prompt.h"

/* Clocks of other VMs change, too. Returns false after the answer. */
static bool set(struct prompt *p)
{
	uint64_t seconds = prompt_number(p->word[1]);

	if (p->rights)
		prompt_answer(p, PROMPT_FAILED, "time: only the serial line may set it");
	else if (seconds > UINT32_MAX)
		prompt_wrong(p);
	else
		time_of_day_set(csr_read(CSR_TIME), seconds * NS_PER_S);
	return !p->rights && seconds <= UINT32_MAX;
}

void prompt_clock(struct prompt *p)
{
	uint64_t seconds;
	char text[DATE_BYTES];

	if (p->n_words > 1 && !set(p))
		return;
	seconds = time_of_day(csr_read(CSR_TIME)) / NS_PER_S;
	date_text(seconds, text);
	text_add(&p->out, "{'time':'%s','seconds':%lu", text, seconds);
	prompt_tell(p);
	p->vm = n_vms;
}
