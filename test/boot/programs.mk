# SPDX-License-Identifier: BSD-2-Clause
# The test programs that run on the boards, and the images they are booted from.

# What of the board tests use is said in a header each: docs/port.md.
FLAGS_test_device := -DTEST_DEVICE_H='"test/boot/programs/device_$(TEST_DEVICE).h"'
$(foreach p,t_intr causes_calls t_port,$(eval FLAGS_test/boot/programs/$(p).c := $(FLAGS_test_device)))

boot_common := test/boot/programs/check.c test/boot/programs/raw_$(ARCH).S
boot_programs := t_msg t_pulse t_sync t_thread t_timer t_proc t_isolate t_errno t_pointers t_fuzz \
	t_trace t_policy t_intr t_slay t_advice t_death t_kill t_system t_d t_fbt t_life t_faults t_dfuzz t_storms \
	t_slain t_tolink t_console t_events t_calls t_object t_align victim
boot_programs += t_stacks t_limits t_map t_daemon t_signal t_gate t_gated t_tracelog t_sites t_qnx t_posix t_port t_samples t_fair t_down t_quota t_many t_crashes t_log t_loss t_probe t_places t_probed
$(foreach p,$(boot_programs),$(eval $(p)_SRCS := test/boot/programs/$(p).c $(boot_common)))
t_trace_SRCS += test/boot/programs/tracing.c
t_policy_SRCS += test/boot/programs/tracing.c
t_gate_SRCS += test/boot/programs/tracing.c test/boot/programs/dcalls.c
$(foreach p,t_slain t_d t_fbt t_life t_faults t_dfuzz t_storms t_sites t_samples t_down t_places t_probed,$(eval $(p)_SRCS += test/boot/programs/dcalls.c))
$(foreach p,t_loss t_storms,$(eval $(p)_SRCS += test/boot/programs/each_cpu.c))
t_gated_SRCS += test/boot/programs/tracing.c test/boot/programs/dcalls.c
t_events_SRCS += $(addprefix test/boot/programs/,truth.c instrumented.c)
t_calls_SRCS += $(addprefix test/boot/programs/,truth.c every_call.c calls_ipc.c calls_sync.c calls_time.c calls_cut.c \
	calls_process.c)
FLAGS_test/boot/programs/instrumented.c := -finstrument-functions
PROGRAMS += $(boot_programs)
# It is loaded by the linker's relocations.
NO_RELOC_TABLE := t_errno

# TraceEvent() at random: the programs of three images only.
PROGRAMS += t_control meddler
t_control_SRCS := test/boot/programs/t_control.c test/boot/programs/dcalls.c $(boot_common)
meddler_SRCS := test/boot/programs/meddler.c test/boot/programs/meddler_all.c $(boot_common)

# Hostile processes against victims.
PROGRAMS += t_torture
t_torture_SRCS := $(addprefix test/torture/,t_torture.c hostile.c typed.c victims.c accounts.c) $(boot_common)

# TraceEvent() from an interrupt: an image whose kernel has a part of the test in it.
PROGRAMS += t_interrupt
t_interrupt_SRCS := test/boot/programs/t_interrupt.c test/boot/programs/tracing.c $(boot_common)
interrupt_KERNEL_OBJS := $(B)/test/boot/interrupt/timer.o
interrupt_LDFLAGS := -Wl,--wrap=intr_timer
$(interrupt_KERNEL_OBJS): EXTRA_FLAGS = $(KERNEL_FLAGS)
$(interrupt_KERNEL_OBJS): | $(KERNEL_GEN)
-include $(interrupt_KERNEL_OBJS:.o=.d)

# A kernel with stubs for all of the port that isn't needed to boot.
stubs_KERNEL_OBJS := $(B)/test/boot/stubs/stubs.o
stubs_LDFLAGS := $(shell sed -n 's/^\(STUB\|EMPTY\).\(\w*\),.*/-Wl,--wrap=\2/p' test/boot/stubs/stubs.c) \
	-Wl,--wrap=arch_reset
$(stubs_KERNEL_OBJS): EXTRA_FLAGS = $(KERNEL_FLAGS)
$(stubs_KERNEL_OBJS): | $(KERNEL_GEN)
-include $(stubs_KERNEL_OBJS:.o=.d)

PROGRAMS += t_inserts
t_inserts_SRCS := $(addprefix test/boot/programs/,t_inserts.c truth.c) $(boot_common)

# Numbered events without end, for resets at any time: test/boot/flight.py.
PROGRAMS += marks
marks_SRCS := test/boot/programs/marks.c

PROGRAMS += causes
causes_SRCS := $(addprefix test/boot/programs/,causes.c causes_process.c causes_ipc.c causes_sync.c \
	causes_calls.c every_call.c) $(boot_common)

# The image live, with its link over RTT: test/boot/link.py.
ifneq ($(filter rtt,$(LINK_LINE)),)
ifneq ($(PLACE),flash)
TEST_IMAGES += rtt
rtt_SCRIPT := test/boot/rtt.start
rtt_PROGRAMS = $(live_PROGRAMS)
endif
endif

# Every script of test/boot/images is an image of the test programs that are in it, and those it
# may need beside: all of them are more than a board's memory for text.
boot_images := $(basename $(notdir $(wildcard test/boot/images/*.start)))
# A board without semihosting has its captures on a disk (test/boot/captures.py), or, where a test is
# about the link, over the link.
over_link = $(if $(filter no,$(SEMIHOSTING)),$(B)/over_link/$(notdir $(1)),$(1))
on_disk = $(if $(filter no,$(SEMIHOSTING)),$(B)/on_disk/$(notdir $(1)),$(1))
on_disk_images := dies discard gate events events-wide drops ring log truth killed why
on_disk_PROGRAMS := $(if $(filter no,$(SEMIHOSTING)),$(DISK_PROGRAMS))
$(B)/over_link/%.start: test/boot/images/%.start test/boot/programs.mk
	@mkdir -p $(@D)
	$(Q)$(OVER_LINK) $< > $@
$(B)/over_link/%.start: test/boot/boot_d/%.start test/boot/programs.mk
	@mkdir -p $(@D)
	$(Q)$(OVER_LINK) $< > $@
OVER_LINK := sed -e '/^onpanic/a [pri=29 heap=1m ability=device,interrupt,trace] linkd \&\nwaitname link' \
	-e 's/,host / /' -e 's/-f \([a-z]*\.kev\)/-f link:\1/' -e 's/--retain -k 8/& -f link:trace.kev/'
$(B)/on_disk/%.start: test/boot/images/%.start test/boot/programs.mk
	@mkdir -p $(@D)
	$(Q)$(ON_DISK) $< > $@
$(B)/on_disk/%.start: test/boot/boot_d/%.start test/boot/programs.mk
	@mkdir -p $(@D)
	$(Q)$(ON_DISK) $< > $@
# The disk's driver comes before the first tracelogger; one that runs beside others and names no
# capture has the name that it has by semihosting. Its buffers and the disk's take more heap.
ON_DISK := sed -e '0,/^\[.*tracelogger/{/^\[.*tracelogger/i [pri=41 ability=device,interrupt] diskd \&\nwaitname disk0' \
	-e '}' -e 's/,host\([], ]\)/,device\1/' -e 's/-f \([a-z0-9-]*\.kev\)/-f block:\1/' \
	-e '/ -f /!s/\( tracelogger .*\)&$$/\1-f block:trace.kev \&/'
$(foreach i,$(boot_images),$(eval $(i)_SCRIPT := test/boot/images/$(i).start) \
	$(eval $(i)_PROGRAMS := init console tracelogger tracestop evstorm crash pidin hello watchdog \
	$(DEMO_PROGRAMS) victim \
	$(filter $(file <test/boot/images/$(i).start),$(filter-out victim,$(boot_programs)))))
$(foreach i,$(on_disk_images),$(eval $(i)_SCRIPT := $(call on_disk,test/boot/images/$(i).start)) \
	$(eval $(i)_PROGRAMS += $(on_disk_PROGRAMS)))
slain_D := test/boot/slain/slain.d
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
	$(eval $(i)_D = $$(life_D) $$(wildcard test/boot/gate/*.d) $$(random_gates)))
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
t_dies_SRCS := $(addprefix test/boot/programs/,t_dies.c dcalls.c causes_process.c causes_ipc.c \
	causes_sync.c causes_calls.c every_call.c) $(boot_common)
dies_PROGRAMS := init tracelogger t_dies victim $(on_disk_PROGRAMS)
goeson_PROGRAMS := init t_dies victim
hangs_PROGRAMS := init t_dies
discard_PROGRAMS := init tracelogger hello $(on_disk_PROGRAMS)

# Images with inversions that nothing cures: test/d/scripts.py, and the suite `why`.
PROGRAMS += uncured
uncured_SRCS := test/boot/programs/uncured.c
# And with a program for the scripts that look into one by its functions.
PROGRAMS += controller
controller_SRCS := test/boot/programs/controller.c
TEST_IMAGES += scripts
scripts_PROGRAMS = $(work_PROGRAMS) uncured controller
scripts_SCRIPT := $(B)/scripts.start
$(scripts_SCRIPT): apps/images/work$(START_CLASS).start test/boot/programs.mk
	@mkdir -p $(@D)
	$(Q)sed '/demo -r$$/i [pri=15 heap=64k] uncured &' $< > $@

why_PROGRAMS += uncured
flight_PROGRAMS := init console $(if $(filter no,$(SEMIHOSTING)),linkd) tracelogger marks
flight_SCRIPT := $(call over_link,test/boot/images/flight.start)
causes_PROGRAMS := init console linkd causes victim
d_D := $(wildcard test/boot/d/*.d)
down_D := $(wildcard test/boot/down/*.d)
down_PROGRAMS += dlimit
samples_D := $(wildcard test/boot/samples/*.d) test/boot/life/life_slow.d
samples-off_D := $(samples_D)
# What the control fuzz sets as gates, programs at random among them: test/boot/gate/gate_random.py.
random_gates := $(foreach n,00 01 02 03 04 05 06 07 08 09 10 11,$(B)/gate/random-$(n).d)
$(random_gates): $(B)/gate/random-%.d: test/boot/gate/gate_random.py
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 $< $* > $@
gate_D := $(wildcard test/boot/gate/*.d) test/boot/gate/foreign.d test/boot/gate/sourced.d test/boot/life/range.d test/boot/life/peek.d
fbt_D := $(wildcard test/boot/fbt/*.d)
places_D := test/boot/places/places_on.d
probed_D := test/boot/probed/probed.d test/boot/life/peek.d test/boot/life/range.d
probed-multi_D := $(probed_D)
probed-soak_D := $(probed_D)
fbtall_D := $(fbt_D)
life_D := $(wildcard test/boot/life/*.d) test/boot/d/all.d test/boot/life/range.d
sites_D := test/boot/faults/faults_nops.d
faults_D := $(wildcard test/boot/faults/*.d) test/boot/life/peek.d test/boot/life/range.d
dfuzz_D := $(sort $(life_D) $(faults_D) $(fbt_D)) test/boot/dfuzz/dfuzz_places.d
dfuzz-soak_D := $(dfuzz_D)
storms_D := $(life_D)
storms-soak_D := $(life_D)
life-multi_D := $(life_D)
life-soak_D := $(life_D)

$(dies_D): $(B)/dies/dies-%.d: test/boot/dies/probes.py test/d/cause_rows.py trace/derived.def
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 test/boot/dies/probes.py $* > $@

# The kernel's code from behind the vectors to its end, where nothing may have changed: two
# addresses, recorded by a D program.
$(B)/d/test/boot/life/range.dif: $(B)/fbt_first.elf build/tools/mkd
	@mkdir -p $(@D)
	$(Q)nm $< | awk '$$3 == "__kernel_start" { at = $$1 } $$3 == "__code_end" { end = $$1 } \
		END { printf "BEGIN { trace(0x%s + 0x800ull); trace(0x%s + 0ull); }\n", at, end }' \
		> $(@:.dif=.d)
	$(Q)build/tools/mkd $@ $(ARCH) $(@:.dif=.d) $(D_OPTIONS)

# One that is compiled with this kernel, and the same for another one.
$(B)/d/test/boot/gate/shell.dif: D_OPTIONS += kernel=$(B)/kernel.elf
$(B)/d/test/boot/gate/shell.dif: $(B)/kernel.elf
# As `kymo dtrace --compile` writes it: with the source behind it.
$(B)/d/test/boot/gate/sourced.dif: $(B)/d/test/boot/gate/either.dif test/boot/gate/either.d
	$(Q)cat $^ > $@
$(B)/d/test/boot/gate/foreign.dif: $(B)/d/test/boot/gate/shell.dif
	$(Q)cp $< $@ && printf 'nobody' | dd of=$@ bs=1 seek=80 conv=notrunc status=none
TEST_IMAGES += $(boot_images)

# The image `work`, traced from before its first process on: its program needs build/kymo.
bootd_PROGRAMS = $(work_PROGRAMS) tracelogger evstorm $(on_disk_PROGRAMS)
bootd_SCRIPT = $(call on_disk,test/boot/boot_d/bootd$(START_CLASS).start)
bootd_BOOT_D := test/boot/boot_d/boot.d
TEST_IMAGES_ASKED_FOR += bootd

# One whose buffers are in retained memory.
kept_PROGRAMS := init tracelogger t_dies victim $(on_disk_PROGRAMS)
kept_SCRIPT := $(call on_disk,test/boot/boot_d/kept.start)
kept_BOOT_D := test/boot/boot_d/kept.d
TEST_IMAGES_ASKED_FOR += kept

# A flight recorder behind a gate, which comes into the image as make's IMAGE_D brings it.
gated_PROGRAMS := $(flight_PROGRAMS)
gated_SCRIPT := $(call over_link,test/boot/boot_d/gated.start)
gated_IMAGE_D := test/boot/boot_d/gated.d
TEST_IMAGES_ASKED_FOR += gated

# Programs with static probes at random, of one provider, for a host to trace: test/boot/statics.py.
statics := statics_one statics_two
PROGRAMS += $(statics)
$(foreach p,$(statics),$(eval $(p)_SRCS := $(B)/statics/$(p).c))
$(statics:%=$(B)/statics/%.c): $(B)/statics/%.c: test/boot/statics/make.py
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 $< $* > $@
# One with 2,000 places.
PROGRAMS += statics_many
statics_many_SRCS := $(B)/statics/many.c
$(statics_many_SRCS): test/boot/statics/many.py
	@mkdir -p $(@D)
	$(Q)/usr/bin/python3 $< > $@
# And one that passes those of the library: test/boot/sysprobes.py.
PROGRAMS += sysprobes
sysprobes_SRCS := test/boot/programs/sysprobes.c
PROGRAMS += statics_storm
statics_storm_SRCS := test/boot/programs/statics_storm.c
statics_PROGRAMS = $(live_PROGRAMS) $(statics) statics_many statics_storm sysprobes
statics_SCRIPT = $(live_SCRIPT)
TEST_IMAGES += statics

# Work of so many instructions, over the link: test/boot/counters.py.
ifeq ($(HAS_COUNTERS)$(COUNTER_PROBES),yes)
PROGRAMS += counted
counted_SRCS := test/boot/programs/counted.c $(boot_common)
TEST_IMAGES += counted
counted_PROGRAMS = $(live_PROGRAMS) counted
counted_SCRIPT = $(live_SCRIPT)
endif

# A program with probes at all of its instructions, over the link: test/boot/pid.py.
ifneq ($(wildcard test/boot/programs/stepper_$(ARCH).S),)
PROGRAMS += stepper
stepper_SRCS := test/boot/programs/stepper.c test/boot/programs/stepper_$(ARCH).S $(boot_common)
TEST_IMAGES += pid
pid_PROGRAMS = $(live_PROGRAMS) stepper libtest crash
pid_SCRIPT = $(live_SCRIPT)
endif

# An interpreter whose helper names its frames, over the link: test/boot/helper.py; and controller:
# test/boot/inside.py.
PROGRAMS += t_helper
t_helper_SRCS := test/boot/programs/t_helper.c
$(B)/user/test/boot/programs/t_helper.o: test/boot/programs/t_helper.d
TEST_IMAGES += helper
helper_PROGRAMS = $(live_PROGRAMS) stackvm t_helper controller
helper_SCRIPT = $(live_SCRIPT)
