# SPDX-License-Identifier: BSD-2-Clause
#
# The programs of the boot images, and the images. A program is <name>_SRCS; an image is
# <image>_PROGRAMS and <image>_SCRIPT. Tests add theirs in test/*/programs.mk. BOARD is set.

CONSOLE_UART_mps2-an386 := cmsdk
CONSOLE_UART_virt-a64 := pl011

PROGRAMS += init console shell pidin crash evstorm
PROGRAMS += demo sensor filter client workers pipeline inversion spinner

init_SRCS := apps/init/main.c apps/init/line.c apps/init/options.c
console_SRCS := apps/console/main.c apps/console/input.c \
	apps/console/uart_$(CONSOLE_UART_$(BOARD)).c
shell_SRCS := apps/shell/main.c
pidin_SRCS := apps/pidin/main.c apps/pidin/print.c
crash_SRCS := apps/crash/main.c apps/crash/kinds.c
evstorm_SRCS := apps/evstorm/main.c

demo_SRCS := apps/demo/demo.c
sensor_SRCS := apps/demo/sensor.c
filter_SRCS := apps/demo/filter.c
client_SRCS := apps/demo/client.c
workers_SRCS := apps/demo/workers.c
pipeline_SRCS := apps/demo/pipeline.c
inversion_SRCS := apps/demo/inversion.c
spinner_SRCS := apps/demo/spinner.c

DEMO_PROGRAMS := demo sensor filter client workers pipeline inversion spinner crash
IMAGES += demo shell crash hello

hello_PROGRAMS := init hello
hello_SCRIPT := apps/images/hello.start
PROGRAMS += hello
hello_SRCS := apps/hello/main.c

demo_PROGRAMS := init console tracelogger tracestop pidin $(DEMO_PROGRAMS)
demo_SCRIPT := apps/images/demo.start
shell_PROGRAMS := init console shell pidin tracelogger tracestop evstorm $(DEMO_PROGRAMS)
shell_SCRIPT := apps/images/shell.start
crash_PROGRAMS := init console crash pidin
crash_SCRIPT := apps/images/crash.start

PROGRAMS += libtest
IMAGES += libtest
libtest_SRCS := $(addprefix apps/libtest/,main.c stress.c threads.c files.c)
libtest_PROGRAMS := init console libtest
libtest_SCRIPT := apps/images/libtest.start
