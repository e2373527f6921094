/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vm.h"

struct vm *vms;
uint32_t n_vms;
