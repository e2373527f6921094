/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MACHINE_SEES_H
#define MACHINE_SEES_H

/* Harts can see each other here, so another one may go on first. */
void machine_sees(void);

#endif
