/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/vinput.h"

#define ID_NAME 0x01U /* values of select */
#define ID_IDS  0x03U
#define EV_BITS 0x11U /* subsel is the type of event; a bit for each code */

#define SELECT 0U /* offsets */
#define SUBSEL 1U
#define SIZE   2U
#define DATA   8U

#define DATA_BYTES 16U

static const struct answer {
	uint8_t select, subsel, size, data[DATA_BYTES];
} answers[] = {
    {ID_NAME, 0, 15, "Tally power key"},
    /* A bus of type BUS_VIRTUAL; vendor, product and version, each of 16 bits. */
    {ID_IDS, 0, 8, {0x06, 0, 0xf4, 0x1a, 0, 0, 1, 0}},
    {EV_BITS,
     VINPUT_EV_KEY,
     VINPUT_KEY_POWER / 8 + 1,
     {[VINPUT_KEY_POWER / 8] = 1U << VINPUT_KEY_POWER % 8}},
};

static uint8_t read_byte(const struct vinput *in, uint32_t offset)
{
	static const struct answer none;
	const struct answer *a = &none;

	for (uint32_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (answers[i].select == in->select && answers[i].subsel == in->subsel)
			a = &answers[i];
	}
	if (offset == SELECT)
		return in->select;
	if (offset == SUBSEL)
		return in->subsel;
	if (offset == SIZE)
		return a->size;
	return offset >= DATA && offset - DATA < DATA_BYTES ? a->data[offset - DATA] : 0;
}

uint64_t vinput_read(const struct vinput *in, uint32_t offset, uint32_t width)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < width; i++)
		value |= (uint64_t)read_byte(in, offset + i) << 8 * i;
	return value;
}

void vinput_write(struct vinput *in, uint32_t offset, uint8_t value)
{
	if (offset == SELECT)
		in->select = value;
	else if (offset == SUBSEL)
		in->subsel = value;
}
