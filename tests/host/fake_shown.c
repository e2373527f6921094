/* SPDX-License-Identifier: Apache-2.0 */
/* When a guest is shown its OF bits on a fake hart that hides those of closed counters: as
 * core/vcpu/hart_flags.c does it. */
#include "tests/host/fake_hardware.h"
#include "vpmu/shown.h"

static struct fake_world *shows(void)
{
	struct fake_world *world = fake_resident_world();

	return world->shows_flags && world->vpmu ? world : NULL;
}

static uint64_t guests_flags(const struct fake_world *world)
{
	return vpmu_scountovf(world->vpmu) & hardware_counters();
}

void fake_hart_flags_load(uint32_t vcpu)
{
	struct fake_world *world = &fake.world[vcpu];

	hardware_show(world->shows_flags ? guests_flags(world) : 0);
	if (world->shows_flags && vpmu_scountovf(world->vpmu))
		world->show_due = world->show_at_start = true;
}

static void show(struct fake_world *world)
{
	uint64_t failed;
	bool closed;

	hardware_show(guests_flags(world));
	/* Others may run between two of these calls; the random steps come between whole ones. */
	do {
		failed = fake.failed;
		if (failed)
			vpmu_handle_failed(world->vpmu, failed);
		fake_hart_settled(failed);
	} while (!vpmu_show_flags(world->vpmu, true, &closed));
	world->show_due = false;
	world->show_at_start = vpmu_scountovf(world->vpmu) || closed;
}

void fake_hart_flags_configured(bool goes_on)
{
	struct fake_world *world = shows();
	bool closed;

	if (!world)
		return;
	if (vpmu_show_flags_if_clear(world->vpmu, hardware_flags(), &closed)) {
		hardware_show(0);
		world->show_at_start = world->show_at_start || closed;
	} else {
		show(world);
	}
	world->show_due = world->show_due || goes_on;
}

void fake_hart_flags_started(void)
{
	struct fake_world *world = shows();

	if (world && world->show_at_start)
		show(world);
}

void fake_hart_flags_settle(void)
{
	struct fake_world *world = shows();

	if (world && world->show_due)
		show(world);
}

void fake_flags_raised(void)
{
	struct fake_world *world = shows();

	if (!world)
		return;
	hardware_show(guests_flags(world));
	world->show_at_start = true;
	if (guests_flags(world) & ~(hardware_flags() & fake.direct))
		world->show_due = true;
}

uint64_t fake_hart_guest_flags(void)
{
	return hardware_flags() & fake.direct;
}

uint64_t vpmu_port_flags(void)
{
	fake_called();
	fake_require(fake_resident_world()->shows_flags, "flags of a hart that hides none");
	return hardware_flags();
}
