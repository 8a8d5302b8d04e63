# SPDX-License-Identifier: GPL-2.0-only
# tare: weigh what the Linux storage stack costs above the device.
# 'make help' lists what there is.

VERSION := 0.1
O := $(CURDIR)/build
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local
KERNELS ?= 6.1 6.12

MAN_SRC := $(wildcard docs/man/*.scd)
MAN := $(patsubst docs/man/%.scd,$(O)/man/%,$(MAN_SRC))

all: tool

help:
	@echo 'make demo     weigh a 4 KiB synchronous write in the lab, print the report'
	@echo 'make test     all the tests; installs what they need'
	@echo 'make bench    tare beside its peers, into build/bench.json'
	@echo 'make check    what a machine can judge of the sources'
	@echo 'make          build the tool into build/tare'
	@echo 'make modules  build the kernel modules for KDIR=$(KDIR)'
	@echo 'make install modules_install    the tool; the modules (KDIR)'
	@echo 'make man clean'

deps:
	@configs/install-packages.sh

tool:
	@$(MAKE) -s -C userspace TOP=$(CURDIR) O=$(O) VERSION=$(VERSION)

man: $(MAN)

$(O)/man/%: docs/man/%.scd
	@mkdir -p $(@D)
	scdoc < $< > $@

# The kernel's build system finds ./Kbuild.
modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

modules_install:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	depmod -a $(notdir $(patsubst %/build,%,$(KDIR)))

install: tool man
	install -D -m 755 $(O)/tare $(DESTDIR)$(PREFIX)/bin/tare
	install -d $(DESTDIR)$(PREFIX)/share/tare/devices $(DESTDIR)$(PREFIX)/share/tare/jobs
	install -m 644 configs/devices/* $(DESTDIR)$(PREFIX)/share/tare/devices
	install -m 644 configs/jobs/* $(DESTDIR)$(PREFIX)/share/tare/jobs
	install -D -m 644 docs/tare.bash-completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tare
	for page in $(MAN); do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit; \
	done

demo: deps
	@tests/demo.sh

test: deps
	@tests/run.sh

bench: deps tool
	@tests/bench/run.sh

check: deps
	@tests/check.sh

clean:
	rm -rf $(O)

.PHONY: all help deps tool man modules modules_install install demo test bench check clean
