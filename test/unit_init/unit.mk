# SPDX-License-Identifier: BSD-2-Clause
# The start script's parser, on this machine.

UNIT_TESTS += $(B)/unit/init_script
$(B)/unit/init_script: test/unit_init/script_test.c apps/init/line.c apps/init/options.c apps/init/script.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -DKYMO_KERNEL -fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka

# What it does with programs that end.
UNIT_TESTS += $(B)/unit/init_children
$(B)/unit/init_children: test/unit_init/children_test.c apps/init/children.c apps/init/children.h apps/init/script.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka
