/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/platform.h"

struct platform platform;
