/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the alarm of /dev/rtc0 to two seconds from now, waits for it, and prints how far the clock
 * has gone meanwhile. */
#include <fcntl.h>
#include <linux/rtc.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int seconds(const struct rtc_time *t)
{
	return (t->tm_hour * 60 + t->tm_min) * 60 + t->tm_sec;
}

int main(void)
{
	struct rtc_wkalrm alarm = {.enabled = 1};
	struct rtc_time now, then;
	unsigned long came;
	int fd = open("/dev/rtc0", O_RDONLY);

	if (fd < 0 || ioctl(fd, RTC_RD_TIME, &now) < 0)
		return 1;
	alarm.time = now;
	alarm.time.tm_sec += 2;
	if (alarm.time.tm_sec >= 60) /* the machine has run for less than a minute */
		return 2;
	if (ioctl(fd, RTC_WKALM_SET, &alarm) < 0 || read(fd, &came, sizeof(came)) < 0)
		return 3;
	if (ioctl(fd, RTC_RD_TIME, &then) < 0)
		return 4;
	printf("alarm_clock: %d s, %s\n", seconds(&then) - seconds(&now),
	       came & RTC_AF ? "an alarm" : "no alarm");
	return 0;
}
