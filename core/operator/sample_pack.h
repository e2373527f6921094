/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a hart's ring of samples (core/watch/samples.h), packed for the serial line. Numbers
 * are told as differences to those of the sample before, in as few bytes as they need: some 12 of
 * the 48 bytes of a sample without callers. docs/samples.md, "At the prompt", has the form. A pure
 * function of its input; any hart, one at a time.
 */
#ifndef CORE_OPERATOR_SAMPLE_PACK_H
#define CORE_OPERATOR_SAMPLE_PACK_H

#include "core/lib/types.h"

#define SAMPLE_PACK_PLACES 14U
#define SAMPLE_PACK_REST   3U
/* The bytes that one record may take: nine for each of 70 words, and what comes before them. */
#define SAMPLE_PACK_MOST 660U

/* What the reader knows by now. All zero at the beginning. */
struct sample_pack {
	uint64_t time;   /* of the last sample */
	uint64_t n_news; /* how often a vcpu of an observation took a place */
	struct sample_place {
		uint64_t whose; /* word 0 of a sample, without its flags and length */
		uint64_t pc[2]; /* in VS and in VU */
		uint64_t rest[SAMPLE_PACK_REST]; /* vsatp, events, number of the sample */
	} places[SAMPLE_PACK_PLACES];
};

/* Packs a record, whose first word has its length. Returns the number of bytes, at most
 * SAMPLE_PACK_MOST. */
uint32_t sample_pack(struct sample_pack *pack, const uint64_t *words, uint8_t *to);

#endif
