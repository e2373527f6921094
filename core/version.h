/* SPDX-License-Identifier: Apache-2.0 */
/* The version of Tally and of its tools, which read it here (tools/lib/tallylib/version.py). */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

#define TALLY_VERSION "0.9"

#endif
