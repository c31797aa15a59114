# SPDX-License-Identifier: BSD-2-Clause
# The test programs that run on the boards, and the images they are booted from.

# What of the board tests use is said in a header each: docs/guide/port.md.
FLAGS_test_device := -DTEST_DEVICE_H='"test/board/programs/device_$(TEST_DEVICE).h"'
$(foreach p,t_intr causes_calls t_port,$(eval FLAGS_test/board/programs/$(p).c := $(FLAGS_test_device)))

boot_common := test/board/programs/check.c test/board/programs/raw_$(ARCH).S
boot_programs := t_msg t_pulse t_sync t_thread t_timer t_proc t_isolate t_errno t_pointers t_fuzz \
	t_trace t_policy t_intr t_slay t_advice t_death t_kill t_system t_d t_fbt t_life t_faults t_dfuzz t_storms \
	t_slain t_tolink t_console t_events t_calls t_object t_align victim
boot_programs += t_stacks t_limits t_map t_daemon t_signal t_gate t_gated t_tracelog t_sites t_qnx t_posix t_port t_samples t_fair t_down t_quota t_many t_crashes t_log t_loss t_probe t_places t_probed
$(foreach p,$(boot_programs),$(eval $(p)_SRCS := test/board/programs/$(p).c $(boot_common)))
t_trace_SRCS += test/board/programs/tracing.c
t_policy_SRCS += test/board/programs/tracing.c
t_gate_SRCS += test/board/programs/tracing.c test/board/programs/dcalls.c
$(foreach p,t_slain t_d t_fbt t_life t_faults t_dfuzz t_storms t_sites t_samples t_down t_places t_probed,$(eval $(p)_SRCS += test/board/programs/dcalls.c))
$(foreach p,t_loss t_storms,$(eval $(p)_SRCS += test/board/programs/each_cpu.c))
t_gated_SRCS += test/board/programs/tracing.c test/board/programs/dcalls.c
t_events_SRCS += $(addprefix test/board/programs/,truth.c instrumented.c)
t_calls_SRCS += $(addprefix test/board/programs/,truth.c every_call.c calls_ipc.c calls_sync.c calls_time.c calls_cut.c \
	calls_process.c)
FLAGS_test/board/programs/instrumented.c := -finstrument-functions
PROGRAMS += $(boot_programs)
# It is loaded by the linker's relocations.
NO_RELOC_TABLE := t_errno

# TraceEvent() at random: the programs of three images only.
PROGRAMS += t_control meddler
t_control_SRCS := test/board/programs/t_control.c test/board/programs/dcalls.c $(boot_common)
meddler_SRCS := test/board/programs/meddler.c test/board/programs/meddler_all.c $(boot_common)

# Hostile processes against victims.
PROGRAMS += t_torture
t_torture_SRCS := $(addprefix test/board/torture/,t_torture.c hostile.c typed.c victims.c accounts.c) $(boot_common)

# TraceEvent() from an interrupt: an image whose kernel has a part of the test in it.
PROGRAMS += t_interrupt
t_interrupt_SRCS := test/board/programs/t_interrupt.c test/board/programs/tracing.c $(boot_common)
interrupt_KERNEL_OBJS := $(B)/test/board/interrupt/timer.o
interrupt_LDFLAGS := -Wl,--wrap=intr_timer
$(interrupt_KERNEL_OBJS): EXTRA_FLAGS = $(KERNEL_FLAGS)
$(interrupt_KERNEL_OBJS): | $(KERNEL_GEN)
-include $(interrupt_KERNEL_OBJS:.o=.d)

# A kernel with stubs for all of the port that isn't needed to boot.
stubs_KERNEL_OBJS := $(B)/test/board/stubs/stubs.o
stubs_LDFLAGS := $(shell sed -n 's/^\(STUB\|EMPTY\).\(\w*\),.*/-Wl,--wrap=\2/p' test/board/stubs/stubs.c) \
	-Wl,--wrap=arch_reset
$(stubs_KERNEL_OBJS): EXTRA_FLAGS = $(KERNEL_FLAGS)
$(stubs_KERNEL_OBJS): | $(KERNEL_GEN)
-include $(stubs_KERNEL_OBJS:.o=.d)

PROGRAMS += t_inserts
t_inserts_SRCS := $(addprefix test/board/programs/,t_inserts.c truth.c) $(boot_common)

# Numbered events without end, for resets at any time: test/board/flight.py.
PROGRAMS += marks
marks_SRCS := test/board/programs/marks.c

PROGRAMS += causes
causes_SRCS := $(addprefix test/board/programs/,causes.c causes_process.c causes_ipc.c causes_sync.c \
	causes_calls.c every_call.c) $(boot_common)

# The image live, with its link over RTT: test/board/link.py.
ifneq ($(filter rtt,$(LINK_LINE)),)
ifneq ($(PLACE),flash)
TEST_IMAGES += rtt
rtt_SCRIPT := test/board/rtt.start
rtt_PROGRAMS = $(live_PROGRAMS)
endif
endif

# Every script of test/board/images is an image of the test programs that are in it, and those it
# may need beside: all of them are more than a board's memory for text.
boot_images := $(basename $(notdir $(wildcard test/board/images/*.start)))
# A board without semihosting has its captures on a disk (test/board/captures.py), or, where a test is
# about the link, over the link.
over_link = $(if $(filter no,$(SEMIHOSTING)),$(B)/over_link/$(notdir $(1)),$(1))
on_disk = $(if $(filter no,$(SEMIHOSTING)),$(B)/on_disk/$(notdir $(1)),$(1))
on_disk_images := dies discard gate events events-wide drops ring log truth killed why
on_disk_PROGRAMS := $(if $(filter no,$(SEMIHOSTING)),$(DISK_PROGRAMS))
$(B)/over_link/%.start: test/board/images/%.start test/board/programs.mk
	@mkdir -p $(@D)
	$(Q)$(OVER_LINK) $< > $@
$(B)/over_link/%.start: test/board/boot_d/%.start test/board/programs.mk
	@mkdir -p $(@D)
	$(Q)$(OVER_LINK) $< > $@
OVER_LINK := sed -e '/^onpanic/a [pri=29 heap=1m ability=device,interrupt,trace] linkd \&\nwaitname link' \
	-e 's/,host / /' -e 's/-f \([a-z]*\.kev\)/-f link:\1/' -e 's/--retain -k 8/& -f link:trace.kev/'
$(B)/on_disk/%.start: test/board/images/%.start test/board/programs.mk
	@mkdir -p $(@D)
	$(Q)$(ON_DISK) $< > $@
$(B)/on_disk/%.start: test/board/boot_d/%.start test/board/programs.mk
	@mkdir -p $(@D)
	$(Q)$(ON_DISK) $< > $@
# The disk's driver comes before the first tracelogger; one that runs beside others and names no
# capture has the name that it has by semihosting. Its buffers and the disk's take more heap.
ON_DISK := sed -e '0,/^\[.*tracelogger/{/^\[.*tracelogger/i [pri=41 ability=device,interrupt] diskd \&\nwaitname disk0' \
	-e '}' -e 's/,host\([], ]\)/,device\1/' -e 's/-f \([a-z0-9-]*\.kev\)/-f block:\1/' \
	-e '/ -f /!s/\( tracelogger .*\)&$$/\1-f block:trace.kev \&/'
$(foreach i,$(boot_images),$(eval $(i)_SCRIPT := test/board/images/$(i).start) \
	$(eval $(i)_PROGRAMS := init console tracelogger tracestop evstorm crash pidin hello watchdog \
	$(DEMO_PROGRAMS) victim \
	$(filter $(file <test/board/images/$(i).start),$(filter-out victim,$(boot_programs)))))
$(foreach i,$(on_disk_images),$(eval $(i)_SCRIPT := $(call on_disk,test/board/images/$(i).start)) \
	$(eval $(i)_PROGRAMS += $(on_disk_PROGRAMS)))
slain_D := test/board/slain/slain.d
slain-soak_D := $(slain_D)
signalled_D := $(slain_D)
slain-disk_D := $(slain_D)
slain-disk-soak_D := $(slain_D)
slain-link_D := $(slain_D)
slain-link-soak_D := $(slain_D)
slain-disk_PROGRAMS += $(DISK_PROGRAMS)
slain-disk-soak_PROGRAMS += $(DISK_PROGRAMS)
slain-link_PROGRAMS += linkd
slain-link-soak_PROGRAMS += linkd
sustained_PROGRAMS += $(DISK_PROGRAMS)
$(foreach i,control control-smp4 control-soak,$(eval $(i)_PROGRAMS := init console t_control meddler) \
	$(eval $(i)_D = $$(life_D) $$(wildcard test/board/gate/*.d) $$(random_gates)))
sustained-long_PROGRAMS += $(DISK_PROGRAMS)
events_PROGRAMS += t_inserts
events-wide_PROGRAMS += t_inserts
torture_PROGRAMS := init t_torture
torture-soak_PROGRAMS := init t_torture
torture-few_PROGRAMS := init t_torture
torture-many_PROGRAMS := init t_torture
interrupt_PROGRAMS := init console t_interrupt
stacks_PROGRAMS := init console linkd t_stacks $(DEMO_PROGRAMS)
dies_D := $(foreach n,00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15,$(B)/dies/dies-$(n).d)
PROGRAMS += t_dies
t_dies_SRCS := $(addprefix test/board/programs/,t_dies.c dcalls.c causes_process.c causes_ipc.c \
	causes_sync.c causes_calls.c every_call.c) $(boot_common)
dies_PROGRAMS := init tracelogger t_dies victim $(on_disk_PROGRAMS)
goeson_PROGRAMS := init t_dies victim
hangs_PROGRAMS := init t_dies
discard_PROGRAMS := init tracelogger hello $(on_disk_PROGRAMS)

# Images with inversions that nothing cures: test/dtrace/scripts.py, and the suite `why`.
PROGRAMS += uncured
uncured_SRCS := test/board/programs/uncured.c
# And with a program for the scripts that look into one by its functions.
PROGRAMS += controller
controller_SRCS := test/board/programs/controller.c
TEST_IMAGES += scripts
scripts_PROGRAMS = $(work_PROGRAMS) uncured controller
scripts_SCRIPT := $(B)/scripts.start
$(scripts_SCRIPT): apps/images/work$(START_CLASS).start test/board/programs.mk
	@mkdir -p $(@D)
	$(Q)sed '/demo -r$$/i [pri=15 heap=64k] uncured &' $< > $@

why_PROGRAMS += uncured
flight_PROGRAMS := init console $(if $(filter no,$(SEMIHOSTING)),linkd) tracelogger marks
flight_SCRIPT := $(call over_link,test/board/images/flight.start)
causes_PROGRAMS := init console linkd causes victim
d_D := $(wildcard test/board/d/*.d)
down_D := $(wildcard test/board/down/*.d)
down_PROGRAMS += dlimit
samples_D := $(wildcard test/board/samples/*.d) test/board/life/life_slow.d
samples-off_D := $(samples_D)
# What the control fuzz sets as gates, programs at random among them: test/board/gate/gate_random.py.
random_gates := $(foreach n,00 01 02 03 04 05 06 07 08 09 10 11,$(B)/gate/random-$(n).d)
$(random_gates): $(B)/gate/random-%.d: test/board/gate/gate_random.py
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 $< $* > $@
gate_D := $(wildcard test/board/gate/*.d) test/board/gate/foreign.d test/board/gate/sourced.d test/board/life/range.d test/board/life/peek.d
fbt_D := $(wildcard test/board/fbt/*.d)
places_D := test/board/places/places_on.d
probed_D := test/board/probed/probed.d test/board/life/peek.d test/board/life/range.d
probed-multi_D := $(probed_D)
probed-soak_D := $(probed_D)
fbtall_D := $(fbt_D)
life_D := $(wildcard test/board/life/*.d) test/board/d/all.d test/board/life/range.d
sites_D := test/board/faults/faults_nops.d
faults_D := $(wildcard test/board/faults/*.d) test/board/life/peek.d test/board/life/range.d
dfuzz_D := $(sort $(life_D) $(faults_D) $(fbt_D)) test/board/dfuzz/dfuzz_places.d
dfuzz-soak_D := $(dfuzz_D)
storms_D := $(life_D)
storms-soak_D := $(life_D)
life-multi_D := $(life_D)
life-soak_D := $(life_D)

$(dies_D): $(B)/dies/dies-%.d: test/board/dies/probes.py test/dtrace/cause_rows.py trace/derived.def
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 test/board/dies/probes.py $* > $@

# The kernel's code from after the vectors to its end, where nothing may have changed: two
# addresses, recorded by a D program.
$(B)/d/test/board/life/range.dif: $(B)/fbt_first.elf build/tools/mkd
	@mkdir -p $(@D)
	$(Q)nm $< | awk '$$3 == "__kernel_start" { at = $$1 } $$3 == "__code_end" { end = $$1 } \
		END { printf "BEGIN { trace(0x%s + 0x800ull); trace(0x%s + 0ull); }\n", at, end }' \
		> $(@:.dif=.d)
	$(Q)build/tools/mkd $@ $(ARCH) $(@:.dif=.d) $(D_OPTIONS)

# One that is compiled with this kernel, and the same for another one.
$(B)/d/test/board/gate/shell.dif: D_OPTIONS += kernel=$(B)/kernel.elf
$(B)/d/test/board/gate/shell.dif: $(B)/kernel.elf
# As `kymo dtrace --compile` writes it: with the source after it.
$(B)/d/test/board/gate/sourced.dif: $(B)/d/test/board/gate/either.dif test/board/gate/either.d
	$(Q)cat $^ > $@
$(B)/d/test/board/gate/foreign.dif: $(B)/d/test/board/gate/shell.dif
	$(Q)cp $< $@ && printf 'nobody' | dd of=$@ bs=1 seek=80 conv=notrunc status=none
TEST_IMAGES += $(boot_images)

# The image `work`, traced from before its first process on: its program needs build/kymo.
bootd_PROGRAMS = $(work_PROGRAMS) tracelogger evstorm $(on_disk_PROGRAMS)
bootd_SCRIPT = $(call on_disk,test/board/boot_d/bootd$(START_CLASS).start)
bootd_BOOT_D := test/board/boot_d/boot.d
TEST_IMAGES_ASKED_FOR += bootd

# One whose buffers are in retained memory.
kept_PROGRAMS := init tracelogger t_dies victim $(on_disk_PROGRAMS)
kept_SCRIPT := $(call on_disk,test/board/boot_d/kept.start)
kept_BOOT_D := test/board/boot_d/kept.d
TEST_IMAGES_ASKED_FOR += kept

# A flight recorder after a gate, which comes into the image as make's IMAGE_D brings it.
gated_PROGRAMS := $(flight_PROGRAMS)
gated_SCRIPT := $(call over_link,test/board/boot_d/gated.start)
gated_IMAGE_D := test/board/boot_d/gated.d
TEST_IMAGES_ASKED_FOR += gated

# Programs with static probes at random, of one provider, for a host to trace: test/board/statics.py.
statics := statics_one statics_two
PROGRAMS += $(statics)
$(foreach p,$(statics),$(eval $(p)_SRCS := $(B)/statics/$(p).c))
$(statics:%=$(B)/statics/%.c): $(B)/statics/%.c: test/board/statics/make.py
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 $< $* > $@
# One with 2,000 places.
PROGRAMS += statics_many
statics_many_SRCS := $(B)/statics/many.c
$(statics_many_SRCS): test/board/statics/many.py
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 $< > $@
# And one that passes those of the library: test/board/sysprobes.py.
PROGRAMS += sysprobes
sysprobes_SRCS := test/board/programs/sysprobes.c
PROGRAMS += statics_storm
statics_storm_SRCS := test/board/programs/statics_storm.c
statics_PROGRAMS = $(live_PROGRAMS) $(statics) statics_many statics_storm sysprobes
statics_SCRIPT = $(live_SCRIPT)
TEST_IMAGES += statics

# Work of so many instructions, over the link: test/board/counters.py.
ifeq ($(HAS_COUNTERS)$(COUNTER_PROBES),yes)
PROGRAMS += counted
counted_SRCS := test/board/programs/counted.c $(boot_common)
TEST_IMAGES += counted
counted_PROGRAMS = $(live_PROGRAMS) counted
counted_SCRIPT = $(live_SCRIPT)
endif

# A program with probes at all of its instructions, over the link: test/board/pid.py.
ifneq ($(wildcard test/board/programs/stepper_$(ARCH).S),)
PROGRAMS += stepper
stepper_SRCS := test/board/programs/stepper.c test/board/programs/stepper_$(ARCH).S $(boot_common)
TEST_IMAGES += pid
pid_PROGRAMS = $(live_PROGRAMS) stepper libtest crash
pid_SCRIPT = $(live_SCRIPT)
endif

# An interpreter whose helper names its frames, over the link: test/board/helper.py; and controller:
# test/board/inside.py.
PROGRAMS += t_helper
t_helper_SRCS := test/board/programs/t_helper.c
$(B)/user/test/board/programs/t_helper.o: test/board/programs/t_helper.d
TEST_IMAGES += helper
helper_PROGRAMS = $(live_PROGRAMS) stackvm t_helper controller
helper_SCRIPT = $(live_SCRIPT)
