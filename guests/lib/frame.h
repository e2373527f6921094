/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets in struct trap_frame, for C and assembly. */
#ifndef GUESTS_LIB_FRAME_H
#define GUESTS_LIB_FRAME_H

#define FRAME_PC     256
#define FRAME_STATUS 264
#define FRAME_CAUSE  272
#define FRAME_TVAL   280
#define FRAME_SIZE   288

#endif
