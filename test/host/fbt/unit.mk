# SPDX-License-Identifier: BSD-2-Clause
# How fbt reads instructions and functions (host/fbt), on this machine.

$(call unit_program,fbt_scan_test,test/host/fbt/scan_test.c $(addprefix host/fbt/,a64.c thumb.c x86.c scan.c text.c),\
	$(HOST_SANITIZE))
