// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints' one instance; front ends in other modules use it.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(tare_issue);
EXPORT_TRACEPOINT_SYMBOL_GPL(tare_complete);
