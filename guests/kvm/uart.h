/* SPDX-License-Identifier: Apache-2.0 */
/* A 16550 that sends and never receives, and has no interrupt line, so Linux polls it. */
#ifndef GUESTS_KVM_UART_H
#define GUESTS_KVM_UART_H

#include <stdint.h>

#define UART_BASE 0x10000000UL
#define UART_SIZE 0x100UL

/* Returns the value of register `reg`. */
uint8_t uart_read(uint64_t reg);

/* Prints what is sent to standard output. */
void uart_write(uint64_t reg, uint8_t value);

#endif
