/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where firmware is known to deviate from what a case expects. Every row was observed. A row whose
 * case passes has no effect, so one list serves all versions.
 */
#include "guests/selftest/known.h"
#include "guests/selftest/selftest.h"

/* OpenSBI 1.5.1, 1.6 and 1.9 on QEMU 10.0.2. */
static const struct known opensbi[] = {
    {"the index is cut to 32 bits", NAMES("11.7 get_info: counter 2^32 + 3 -> INVALID_PARAM",
                                          "11.7 get_info: counter 2^63 -> INVALID_PARAM")},
    {"what is valid in the set is used",
     NAMES("11.8 config_matching: a hole alone -> INVALID_PARAM",
           "11.8 config_matching: a hole by base -> INVALID_PARAM",
           "11.8 config_matching: a counter and a hole -> INVALID_PARAM",
           "11.8 config_matching: a hole and a bad event -> INVALID_PARAM",
           "11.9 start: a configured counter and a hole -> INVALID_PARAM",
           "11.10 stop: a running counter and a hole -> INVALID_PARAM")},
    {"silent: unconfigured counters are left out",
     NAMES("11.9 start: a configured and an unconfigured one -> INVALID_PARAM")},
    {"a counter outside the set is taken",
     NAMES("11.8 config_matching: instructions on counter 0 -> NOT_SUPPORTED",
           "11.8 config_matching: cycles on counter 2 -> NOT_SUPPORTED",
           "11.8 config_matching: empty set -> NOT_SUPPORTED",
           "11.8 config_matching: hardware event, firmware set -> NOT_SUPPORTED",
           "11.8 config_matching: configured, not started: with another event",
           "11.8 config_matching: running: not chosen -> NOT_SUPPORTED",
           "11.8 config_matching: running: not for its own event either",
           "11.8 config_matching: SKIP_MATCH: empty set -> NOT_SUPPORTED")},
    {"silent: an empty set is refused",
     NAMES("11.8 config_matching: empty set, base 2^64 - 1 -> NOT_SUPPORTED",
           "11.9 start: empty set", "11.9 start: empty set, base 2^64 - 1", "11.10 stop: empty set",
           "11.10 stop: empty set, base 2^64 - 1")},
    {"reserved flags are ignored",
     NAMES("11.8 config_matching: reserved flag bit 8 -> INVALID_PARAM",
           "11.8 config_matching: reserved flag bit 63 -> INVALID_PARAM",
           "11.8 config_matching: all reserved flags -> INVALID_PARAM",
           "11.9 start: reserved flag bit 2 -> INVALID_PARAM",
           "11.9 start: reserved flag bit 63 -> INVALID_PARAM",
           "11.9 start: both kinds of initial value -> INVALID_PARAM",
           "11.10 stop: reserved flag bit 2 -> INVALID_PARAM",
           "11.10 stop: reserved flag bit 63 -> INVALID_PARAM")},
    {"silent: what a refused call should have left alone was done",
     NAMES("11.10 stop: none of these started it -> ALREADY_STOPPED",
           "11.9 start: none of these stopped it -> ALREADY_STARTED")},
    {"an event that does not exist is INVALID_PARAM",
     NAMES("11.8 config_matching: general event 11 -> NOT_SUPPORTED",
           "11.8 config_matching: general event 0xffff -> NOT_SUPPORTED",
           "11.8 config_matching: cache_id 7 -> NOT_SUPPORTED",
           "11.8 config_matching: cache op_id 3 -> NOT_SUPPORTED",
           "11.8 config_matching: cache code 0xffff -> NOT_SUPPORTED",
           "11.8 config_matching: raw event with a code -> NOT_SUPPORTED",
           "11.8 config_matching: raw v2 event with a code -> NOT_SUPPORTED",
           "11.8 config_matching: raw v2 event with 57 bits -> NOT_SUPPORTED",
           "11.8 config_matching: type 4 -> NOT_SUPPORTED",
           "11.8 config_matching: type 14 -> NOT_SUPPORTED",
           "11.8 config_matching: firmware event 22 -> NOT_SUPPORTED",
           "11.8 config_matching: firmware event 255 -> NOT_SUPPORTED",
           "11.8 config_matching: firmware event PLATFORM -> NOT_SUPPORTED")},
    {"event_data is ignored",
     NAMES("11.8 config_matching: general event with data -> NOT_SUPPORTED",
           "11.8 config_matching: cache event with data -> NOT_SUPPORTED",
           "11.8 config_matching: firmware event with data -> NOT_SUPPORTED")},
    {"machine: the event is taken, but counted on one counter only",
     NAMES("11.8 config_matching: one event, two filters -> NOT_SUPPORTED",
           "11.8 one event twice: the second counts, too",
           "11.8 one event twice: the survivor counts")},
    {"an event twice is counted on the first counter only",
     NAMES("11.5 one firmware event twice: the second counts")},
    {"SKIP_MATCH does not look at the event",
     NAMES("11.8 config_matching: SKIP_MATCH: the first of the set, unconfigured",
           "11.8 config_matching: SKIP_MATCH: running, another event -> NOT_SUPPORTED")},
    {"AUTO_START is ignored for cache events",
     NAMES("11.10 stop: after AUTO_START of a cache event")},
    {"the answer is that of the last counter alone",
     NAMES("11.9 start: a running and a stopped one -> ALREADY_STARTED",
           "11.10 stop: a running and a stopped one -> ALREADY_STOPPED",
           "11.10 stop: RESET of a running and a stopped one -> ALREADY_STOPPED")},
    {"firmware counters do not know whether they run",
     NAMES("11.9 start: firmware counter twice -> ALREADY_STARTED",
           "11.11 fw_read: the second start left the value alone",
           "11.10 stop: firmware counter twice -> ALREADY_STOPPED")},
    {"silent: an unconfigured counter is refused",
     NAMES("11.10 stop: unconfigured -> ALREADY_STOPPED",
           "11.10 stop: unconfigured firmware counter -> ALREADY_STOPPED")},
    {"the index is not looked at", NAMES("11.12 fw_read_hi: hardware counter -> INVALID_PARAM",
                                         "11.12 fw_read_hi: a hole -> INVALID_PARAM",
                                         "11.12 fw_read_hi: one past the last -> INVALID_PARAM",
                                         "11.12 fw_read_hi: counter 2^64 - 1 -> INVALID_PARAM")},
    {"silent: every counter's CSR is open to S",
     NAMES("11.7 the CSR of an unconfigured counter -> illegal instruction",
           "11 U, unconfigured counter, scounteren open -> illegal instruction")},
    {"silent: an IPI to oneself is not counted",
     NAMES("11.5 IPI_SENT: five to oneself count 5", "11.5 IPI_RECEIVED: five to oneself count 5")},
    {"OF of counters never used is set", NAMES("Sscofpmf cycles: scountovf shows no other",
                                               "Sscofpmf instructions: scountovf shows no other")},
    {"machine: the overflow after a far start is swallowed",
     NAMES("Sscofpmf cycles: after a far start, one interrupt",
           "Sscofpmf cycles: after a far start, exact",
           "Sscofpmf instructions: after a far start, one interrupt",
           "Sscofpmf instructions: after a far start, exact")},
    {"counters 0 and 2 run from boot and do not take a value then",
     NAMES("11.9 start: counter 0", "11.9 start: cycle reads what counter 0 holds",
           "11.9 start: counter 2", "11.9 start: instret reads what counter 2 holds")},
    /* Since 1.6. */
    {"silent: a table without an entry is refused", NAMES("11.14 event_get_info: no entry")},
    {"raw events are said to be there that config_matching refuses",
     NAMES("11.14 event_get_info: raw events, as config_matching",
           "11.14 event_get_info: raw v2 events, as config_matching",
           "11.14 event_get_info: raw v1 of 49 bits, as config_matching",
           "11.14 event_get_info: raw v2 of 57 bits, as config_matching")},
    {"firmware events are said not to be there",
     NAMES("11.14 event_get_info: firmware events, as config_matching",
           "11.14 event_get_info: counters in use do not change the answer")},
    {"reserved bits of event_idx are not looked at",
     NAMES("11.14 event_get_info: a reserved bit -> INVALID_PARAM")},
    /* Cases that damage state. */
    {"base is forgotten for firmware events: state of other counters is overwritten",
     NAMES("11.8 config_matching: firmware event, base at the first firmware counter",
           "11.8 config_matching: firmware event, base at the first firmware counter, again",
           "11.8 config_matching: firmware event by base, AUTO_START and CLEAR_VALUE",
           "11.10 stop: it was started by base")},
    {"base and mask are added without a look at the carry",
     NAMES("11.8 config_matching: base 2^64 - 1, mask 2 -> INVALID_PARAM",
           "11.9 start: base 2^64 - 1, mask 2 -> INVALID_PARAM",
           "11.10 stop: base 2^64 - 1, mask 2 -> INVALID_PARAM",
           "11.8 config_matching: base 2^64 - 32, mask 2^40 -> INVALID_PARAM")},
    {NULL, NULL},
};

/* Whether the string is "section name". */
static bool is_case(const char *s, const char *section, const char *name)
{
	for (; *section; section++, s++)
		if (*s != *section)
			return false;
	if (*s++ != ' ')
		return false;
	while (*s && *s == *name) {
		s++;
		name++;
	}
	return *s == *name;
}

static const char *find(const struct known *list, const char *section, const char *name)
{
	for (; list->why; list++)
		for (const char *const *c = list->names; *c; c++)
			if (is_case(*c, section, name))
				return list->why;
	return NULL;
}

const char *known_deviation(const char *section, const char *name)
{
	if (fw.impl_id == IMP_OPENSBI)
		return find(opensbi, section, name);
	if (fw.impl_id == IMP_KVM) {
		const char *why = NULL;

		if (!fw.reads_add_up)
			why = find(known_kvm_reads, section, name);
		if (!why && fw.impl_version >> 16 >= 7)
			why = find(known_kvm_7, section, name);
		return why ? why : find(known_kvm, section, name);
	}
	return NULL;
}
