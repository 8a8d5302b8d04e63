// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints' one instance; front ends in other modules use it.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(tare_issue);
EXPORT_TRACEPOINT_SYMBOL_GPL(tare_complete);

int tare_trace_reg(void)
{
	static_branch_inc(&tare_watched);
	return 0;
}

void tare_trace_unreg(void)
{
	static_branch_dec(&tare_watched);
}
