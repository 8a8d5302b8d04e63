/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TARE_BLK_H
#define TARE_BLK_H

#include "tare.h"

extern const struct tare_frontend tare_blk_frontend;

#endif
