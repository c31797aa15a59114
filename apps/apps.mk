# SPDX-License-Identifier: BSD-2-Clause
#
# The programs of the boot images, and the images. A program is <name>_SRCS; an image is
# <image>_PROGRAMS and <image>_SCRIPT. Tests add theirs in programs.mk files of test/. BOARD is set.

# The programs that drive devices are made for those that board.mk names.
VIRTIO_SRCS_virtio := apps/virtio/virtio.c apps/virtio/virtio_mmio.c
VIRTIO_SRCS_pc := apps/virtio/virtio.c apps/virtio/virtio_pci.c apps/pci/pci.c
DISK_SRC_virtio := apps/diskd/virtio_blk.c apps/diskd/partition.c
DISK_SRC_pc := apps/diskd/virtio_blk.c apps/diskd/ahci.c apps/diskd/partition.c
DISK_SRC_sdhci := apps/diskd/sdhci.c apps/diskd/partition.c
DISK_KINDS_virtio := &disk_virtio
DISK_KINDS_pc := &disk_virtio, &disk_ahci
DISK_KINDS_sdhci := &disk_sdhci
DISK_PROGRAMS_virtio := diskd
DISK_PROGRAMS_sdhci := diskd
DISK_PROGRAMS_pc := diskd
DISK_PROGRAMS := $(DISK_PROGRAMS_$(DISK))

PROGRAMS += init console linkd shell pidin crash evstorm watchdog dlimit
PROGRAMS += demo sensor filter client workers pipeline inversion spinner

init_SRCS := $(addprefix apps/init/,main.c children.c line.c options.c)
# Most bytes of a start script.
INIT_SCRIPT_MAX ?= 8192
FLAGS_apps/init/main.c := -DSCRIPT_MAX=$(INIT_SCRIPT_MAX)
console_SRCS := apps/console/main.c apps/console/edit.c apps/console/input.c apps/console/listen.c \
	apps/console/uart_$(CONSOLE_UART).c
linkd_SRCS := $(addprefix apps/linkd/,main.c port.c line.c $(LINK_LINE:%=line_%.c)) \
	$(if $(filter virtio,$(LINK_LINE)),$(VIRTIO_SRCS_$(DISK))) \
	$(addprefix lib/linkd/,serve.c dtrace.c console.c capture.c source.c program.c) \
	$(addprefix lib/link/,link.c channel.c make.c window.c receive.c encode.c cobs.c) $(CRC32C_SRC) \
	apps/init/line.c apps/init/options.c
comma := ,
FLAGS_apps/linkd/main.c := '-DLINK_LINES=$(LINK_LINE:%=&line_%$(comma))'
USER_FLAGS += -DLINKD_FRAME_MOST=$(LINK_FRAME_MOST) -DLINKD_WINDOW=$(LINK_WINDOW)
PROGRAMS += $(DISK_PROGRAMS)
diskd_SRCS := apps/diskd/main.c $(DISK_SRC_$(DISK)) $(VIRTIO_SRCS_$(DISK))
FLAGS_apps/diskd/main.c := '-DDISK_KINDS=$(DISK_KINDS_$(DISK))'
shell_SRCS := apps/shell/main.c apps/shell/foreground.c
pidin_SRCS := apps/pidin/main.c apps/pidin/print.c apps/pidin/limits.c
crash_SRCS := apps/crash/main.c apps/crash/kinds.c
FLAGS_apps/crash/kinds.c := $(CRASH_DEFS)
evstorm_SRCS := apps/evstorm/main.c
watchdog_SRCS := apps/watchdog/main.c
dlimit_SRCS := apps/dlimit/main.c

demo_SRCS := apps/demo/demo.c
sensor_SRCS := apps/demo/sensor.c
filter_SRCS := apps/demo/filter.c
client_SRCS := apps/demo/client.c
workers_SRCS := apps/demo/workers.c
pipeline_SRCS := apps/demo/pipeline.c
inversion_SRCS := apps/demo/inversion.c
spinner_SRCS := apps/demo/spinner.c

DEMO_PROGRAMS := demo sensor filter client workers pipeline inversion spinner crash
IMAGES += demo shell crash hello live work

hello_PROGRAMS := init hello
hello_SCRIPT := apps/images/hello.start
PROGRAMS += hello
hello_SRCS := apps/hello/main.c

# An interpreter that names its own frames: docs/guide/helpers.md.
PROGRAMS += stackvm
stackvm_SRCS := apps/stackvm/main.c apps/stackvm/vm.c
$(B)/user/apps/stackvm/vm.o: apps/stackvm/stackvm.d

demo_PROGRAMS := init console tracelogger tracestop pidin $(DEMO_PROGRAMS)
demo_SCRIPT := apps/images/demo.start
shell_PROGRAMS := init console $(DISK_PROGRAMS) shell pidin tracelogger tracestop evstorm watchdog $(DEMO_PROGRAMS)
shell_SCRIPT := apps/images/shell.start
# A system that runs until it is stopped, with the link to a host: what D looks at.
live_PROGRAMS := init console linkd dlimit hello $(DISK_PROGRAMS) shell pidin tracelogger tracestop evstorm watchdog $(DEMO_PROGRAMS)
live_SCRIPT := apps/images/live$(START_CLASS).start
# Like live, but without a reader of its console: the image that `kymo dtrace` boots.
work_PROGRAMS := init console linkd hello $(if $(filter no,$(HELPERS)),,stackvm) $(DEMO_PROGRAMS)
work_SCRIPT := apps/images/work$(START_CLASS).start
crash_PROGRAMS := init console crash pidin
crash_SCRIPT := apps/images/crash.start

PROGRAMS += libtest
TEST_IMAGES += libtest
libtest_SRCS := $(addprefix apps/libtest/,main.c stress.c threads.c files.c)
libtest_PROGRAMS := init console libtest
libtest_SCRIPT := apps/images/libtest.start
