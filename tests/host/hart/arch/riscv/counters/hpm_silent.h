/* SPDX-License-Identifier: Apache-2.0 */
/* As a build of `make DEBUG=1`. A test that has no such variable gives no silent events. */
#ifndef HOST_HPM_SILENT_H
#define HOST_HPM_SILENT_H

#include <stdbool.h>

extern bool host_gives_silent __attribute__((weak));

#define hpm_silent_events (&host_gives_silent && host_gives_silent)

#endif
