// SPDX-License-Identifier: GPL-2.0-only
#include "run.h"

int run_fio(struct run *run)
{
	(void)run;
	return msg_cannot("--engine fio: not there yet");
}
