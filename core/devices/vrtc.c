/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/vrtc.h"

/* Offsets of the registers. The lower half of the time is read first, and latches the upper one.
 * The upper half of the alarm is written first; the lower one sets it. */
enum {
	REG_TIME_LOW = 0x00,
	REG_TIME_HIGH = 0x04,
	REG_ALARM_LOW = 0x08,
	REG_ALARM_HIGH = 0x0c,
	REG_IRQ_ENABLED = 0x10,
	REG_CLEAR_ALARM = 0x14,
	REG_ALARM_STATUS = 0x18,
	REG_CLEAR_INTERRUPT = 0x1c,
};

#define LOW_MASK UINT64_C(0xffffffff)

void vrtc_init(struct vrtc *r)
{
	*r = (struct vrtc){0};
}

void vrtc_elapse(struct vrtc *r, uint64_t now)
{
	if (!r->armed || r->alarm > now + r->offset)
		return;
	r->armed = false;
	r->pending = true;
}

bool vrtc_irq(const struct vrtc *r)
{
	return r->pending && r->enabled;
}

uint64_t vrtc_due(const struct vrtc *r, uint64_t now)
{
	return r->armed && r->enabled ? r->alarm - (now + r->offset) : ~UINT64_C(0);
}

uint32_t vrtc_read(struct vrtc *r, uint32_t offset, uint64_t now)
{
	uint64_t time = now + r->offset;

	vrtc_elapse(r, now);
	switch (offset) {
	case REG_TIME_LOW:
		r->high = (uint32_t)(time >> 32);
		return (uint32_t)time;
	case REG_TIME_HIGH:
		return r->high;
	case REG_ALARM_LOW:
		return (uint32_t)r->alarm;
	case REG_ALARM_HIGH:
		return (uint32_t)(r->alarm >> 32);
	case REG_IRQ_ENABLED:
		return r->enabled;
	case REG_ALARM_STATUS:
		return r->armed;
	default:
		return 0;
	}
}

static uint64_t with_low(uint64_t value, uint32_t low)
{
	return (value & ~LOW_MASK) | low;
}

static uint64_t with_high(uint64_t value, uint32_t high)
{
	return (value & LOW_MASK) | (uint64_t)high << 32;
}

void vrtc_write(struct vrtc *r, uint32_t offset, uint32_t value, uint64_t now)
{
	uint64_t time = now + r->offset;

	vrtc_elapse(r, now);
	switch (offset) {
	case REG_TIME_LOW:
		r->offset = with_low(time, value) - now;
		break;
	case REG_TIME_HIGH:
		r->offset = with_high(time, value) - now;
		break;
	case REG_ALARM_LOW:
		r->alarm = with_low(r->alarm, value);
		r->armed = true;
		break;
	case REG_ALARM_HIGH:
		r->alarm = with_high(r->alarm, value);
		break;
	case REG_IRQ_ENABLED:
		r->enabled = value & 1;
		break;
	case REG_CLEAR_ALARM:
		r->armed = false;
		break;
	case REG_CLEAR_INTERRUPT:
		r->pending = false;
		break;
	default:
		break;
	}
	vrtc_elapse(r, now);
}
