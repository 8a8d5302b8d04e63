// SPDX-License-Identifier: GPL-2.0-only
/* Extents: look-up, joining, holes; FIEMAP on a real file where there is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fsmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_disk_maps_onto_itself(void **state)
{
	struct fsmap_piece piece[2];
	struct fsmap map;

	(void)state;
	fsmap_disk(&map);
	assert_int_equal(fsmap_pieces(&map, 1048576, 65536, piece, 2), 1);
	assert_int_equal(piece[0].sector, 2048);
	assert_int_equal(piece[0].bytes, 65536);
	fsmap_free(&map);
}

static void test_extents(void **state)
{
	struct fsmap_piece piece[4];
	struct fsmap map = { 0 };

	(void)state;
	/* two that continue each other, one elsewhere, a hole, one more */
	assert_int_equal(fsmap_add(&map, 0, 40960, 4096), 0);
	assert_int_equal(fsmap_add(&map, 4096, 45056, 4096), 0);
	assert_int_equal(map.n, 1);
	assert_int_equal(fsmap_add(&map, 8192, 4096, 8192), 0);
	assert_int_equal(fsmap_add(&map, 32768, 81920, 4096), 0);
	assert_int_equal(fsmap_add(&map, 32768, 0, 4096), -EINVAL);
	assert_int_equal(map.n, 3);

	assert_int_equal(fsmap_pieces(&map, 512, 1024, piece, 4), 1);
	assert_int_equal(piece[0].sector, 81);
	assert_int_equal(fsmap_pieces(&map, 4096, 8192, piece, 4), 2);
	assert_int_equal(piece[0].sector, 88);
	assert_int_equal(piece[0].bytes, 4096);
	assert_int_equal(piece[1].sector, 8);
	assert_int_equal(piece[1].bytes, 4096);
	/* more pieces than room: told, not written */
	assert_int_equal(fsmap_pieces(&map, 4096, 8192, piece, 1), 2);
	/* holes, inside and at the end */
	assert_int_equal(fsmap_pieces(&map, 12288, 8192, piece, 4), 0);
	assert_int_equal(fsmap_pieces(&map, 36864, 512, piece, 4), 0);
	fsmap_free(&map);
}

static void test_many_extents(void **state)
{
	struct fsmap map = { 0 }, same = { 0 };
	struct fsmap_piece piece;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		fsmap_add(&map, i * 4096, (1000 - i) * 8192, 4096);
		fsmap_add(&same, i * 4096, (1000 - i) * 8192, 4096);
	}
	assert_int_equal(map.n, 1000);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(fsmap_pieces(&map, i * 4096, 4096, &piece, 1),
				 1);
		assert_int_equal(piece.sector, (1000 - i) * 16);
	}
	assert_true(fsmap_equal(&map, &same));
	same.extent[500].physical++;
	assert_false(fsmap_equal(&map, &same));
	fsmap_free(&map);
	fsmap_free(&same);
}

static void test_real_file(void **state)
{
	char name[] = "tare-fsmap-XXXXXX";
	struct fsmap_piece piece[64];
	struct fsmap map;
	char block[65536];
	int fd, err;

	(void)state;
	fd = mkstemp(name);
	assert_true(fd >= 0);
	unlink(name);
	memset(block, 1, sizeof(block));
	assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	err = fsmap_read(&map, fd);
	if (err) {
		close(fd);
		skip(); /* this file system has no FIEMAP */
	}
	assert_int_not_equal(fsmap_pieces(&map, 0, sizeof(block), piece, 64),
			     0);
	assert_int_equal(fsmap_pieces(&map, sizeof(block), 512, piece, 64), 0);
	fsmap_free(&map);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk_maps_onto_itself),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_many_extents),
		cmocka_unit_test(test_real_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
