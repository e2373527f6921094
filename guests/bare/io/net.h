/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of the guest `net` that are in files of their own: the port is set up. */
#ifndef GUESTS_NET_H
#define GUESTS_NET_H

#include "guests/bare/io/port.h"

int net_host(struct port *p);
int net_large(struct port *p);
int net_gather(struct port *p);

#endif
