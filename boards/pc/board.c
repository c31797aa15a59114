/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PC like QEMU's q35: the board's functions of kernel/arch/ and of the x86-64 port. README.md has
 * the map. RAM and the screen are taken from the loader's information (PVH, or Multiboot2 as from
 * GRUB). Tested by the boots.
 */
#include "boards/board.h"

#include "abi/errno.h"
#include "boards/drivers/acpi.h"
#include "boards/drivers/ioapic.h"
#include "boards/drivers/msi.h"
#include "boards/drivers/multiboot2.h"
#include "boards/drivers/pci.h"
#include "boards/drivers/pci_config.h"
#include "boards/drivers/pctime.h"
#include "boards/drivers/screen.h"
#include "boards/drivers/uart16550.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/x86_64/board.h"

#define COM1 0x3f8
#define COM2 0x2f8
#define COM_PORTS 8
#define IOAPIC 0xfec00000ul
#define HPET 0xfed00000ul
#define LOCAL_APIC 0xfee00000ul
#define PAGE 0x1000ul
#define LINES_ISA 16
#define LINES_MOST \
    128 /* of the I/O APIC, followed by those of messages: kernel/arch/x86_64/shared.h */
#define CHIPS 0xfec00000ul /* from here to 4 GB: interrupt controllers, timers, firmware */
#define FOUR_GB 0x100000000ul
#define FIRST_MB 0x100000ul

#define EXIT_PORT 0xf4  /* QEMU's isa-debug-exit, with -device */
#define ACPI_PM1A 0x604 /* q35's; on another machine it would be in the FADT */
#define ACPI_SLEEP_S5 0x2000
#define RESET_PORT 0xcf9
#define RESET_HARD 0x06
#define KEYBOARD_COMMAND 0x64
#define KEYBOARD_RESET 0xfe

const struct x86_region x86_board_devices[] = {
    {IOAPIC, PAGE}, {HPET, PAGE}, {LOCAL_APIC, PAGE}, {0, 0}};
const struct x86_region x86_board_ports[] = {{COM1, COM_PORTS}, {COM2, COM_PORTS}, {0, 0}};

/* The entries of the loader's memory map, of whatever kind: no device of a driver is in one. */
#define TAKEN_MOST 128u
static struct x86_region taken[TAKEN_MOST]; /* [I] */
/* [I] 0: the loader gave no map; above TAKEN_MOST: it has too many entries */
static unsigned taken_count;

static struct x86_region ram;           /* [I] */
static struct multiboot2_screen screen; /* [I] width 0: none */
static uint8_t font[SCREEN_FONT_BYTES]; /* [I] */
static unsigned lines;                  /* [I] */
static uint64_t rsdp; /* [I] address of ACPI's root pointer; 0: not given by the loader */

/* ---- the loader's information ------------------------------------------------------ */

/* PVH start info, version 1, and an entry of its memory map. */
struct start_info {
    uint32_t magic, version, flags, modules;
    uint64_t modules_at, command_line, rsdp, memory_map;
    uint32_t memory_entries, reserved;
};
struct memory_entry {
    uint64_t start, len;
    uint32_t type, reserved;
};
#define MEMORY_RAM 1
#define FIRST_GB 0x40000000ul /* covered by the boot map */
#define ENTRIES_MOST 128u

static void taken_add(const struct memory_entry *entry)
{
    if (taken_count < TAKEN_MOST) {
        taken[taken_count] = (struct x86_region){entry->start, entry->len};
    }
    taken_count++;
}

/* Reads the information; RAM is the entry that contains the kernel. */
static void pvh_read(const struct start_info *info)
{
    uintptr_t kernel = arch_virt_to_phys(__kernel_start);

    if (info->version < 1 || info->memory_entries > ENTRIES_MOST ||
        !range_inside(info->memory_map, info->memory_entries * sizeof(struct memory_entry), 0,
                      FIRST_GB)) {
        return;
    }
    rsdp = info->rsdp;
    const struct memory_entry *entries = arch_phys_to_virt(info->memory_map);
    for (unsigned i = 0; i < info->memory_entries; i++) {
        taken_add(&entries[i]);
        if (entries[i].type == MEMORY_RAM && kernel >= entries[i].start &&
            kernel - entries[i].start < entries[i].len) {
            ram = (struct x86_region){entries[i].start, entries[i].len};
        }
    }
}

/* The font is copied because its memory will belong to a process. */
static void multiboot_read(const void *info)
{
    struct multiboot2 found =
        multiboot2_read(info, LOADER_INFO_MOST, arch_virt_to_phys(__kernel_start));

    for (uint32_t i = 0; i < found.map_entries; i++) {
        taken_add((const void *)((const char *)info + found.map_at + i * found.map_entry_bytes));
    }
    if (found.ram.len) {
        ram = (struct x86_region){found.ram.start, found.ram.len};
    }
    if (found.rsdp) {
        rsdp = arch_virt_to_phys(info) + found.rsdp;
    }
    if (found.module.len == sizeof(font) &&
        range_inside(found.module.start, found.module.len, 0, FIRST_GB)) {
        __builtin_memcpy(font, arch_phys_to_virt(found.module.start), sizeof(font));
        screen = found.screen;
    }
}

/* Without the loader's information, the size of RAM is that of board.mk. */
static void loader_read(void)
{
    const struct start_info *info = arch_phys_to_virt(x86_start_info);

    ram = (struct x86_region){0x100000, BOARD_RAM_BYTES - 0x100000};
    if (!range_inside(x86_start_info, sizeof(*info), 0, FIRST_GB)) {
        return;
    }
    if (info->magic == LOADER_PVH_MAGIC) {
        pvh_read(info);
    } else {
        multiboot_read(info);
    }
    if (ram.start + ram.len > KERNEL_RAM_MOST) {
        ram.len = KERNEL_RAM_MOST - ram.start;
    }
}

void arch_board_init(void)
{
    uart16550_init(COM1);
    loader_read();
}

/* Returns whole blocks of 2 MB. */
struct x86_region x86_board_ram(void)
{
    uintptr_t end = (ram.start + ram.len) & ~0x1ffffful;

    return (struct x86_region){ram.start, end - ram.start};
}

/* ---- CPUs -------------------------------------------------------------------------- */

static struct x86_region pci_space;   /* [I] PCI's configuration space; len 0: only by ports */
static unsigned cpus = 1;             /* [I] */
static uint32_t apic_of[CONFIG_CPUS]; /* [I] */
_Static_assert(CONFIG_CPUS <= ACPI_MAX_CPUS, "apic_of[]");

/* PCI's configuration space is where ACPI says, if that is valid: in the first 4 GB, and not in
 * RAM. Otherwise its ports are used. */
static void pci_config_find(const struct acpi_facts *acpi)
{
    const uint64_t len = (acpi->pci_last + 1ul) << 20;

    pci_space = (struct x86_region){acpi->pci_config, len};
    if (acpi->pci_config == 0 || acpi->pci_config % FIRST_MB ||
        !range_inside(pci_space.start, len, ram.start + ram.len, CHIPS - (ram.start + ram.len))) {
        pci_space.len = 0;
        return;
    }
    pci_config_begin(x86_config_space(pci_space.start, len), acpi->pci_last);
}

/* Lists the CPUs that ACPI knows, after the one that boots. Without ACPI there is one. */
static void cpus_find(void)
{
    struct acpi_facts acpi;

    apic_of[0] = x86_apic_id();
    if (apic_of[0] > X86_XAPIC_ID_MOST) {
        kernel_panic("the CPU that boots has an identifier that lines can't be sent to");
    }
    bool cpus_known = acpi_read(rsdp, x86_firmware, &acpi);
    pci_config_find(&acpi);
    if (!cpus_known) {
        kprintf("kymo on %s: no ACPI tables, so one CPU\n", BOARD_NAME);
        return;
    }
    for (unsigned i = 0; i < acpi.cpus && i < ACPI_MAX_CPUS; i++) {
        const bool reached = acpi.apic[i] <= X86_XAPIC_ID_MOST || x86_apic_wide();
        if (acpi.apic[i] != apic_of[0] && reached && cpus < CONFIG_CPUS) {
            apic_of[cpus++] = acpi.apic[i];
        }
    }
    if (acpi.cpus > cpus) {
        kprintf("kymo on %s: of %u CPUs the kernel uses %u\n", BOARD_NAME, acpi.cpus, cpus);
    }
}

unsigned arch_cpu_count(void)
{
    return cpus;
}

uint32_t x86_board_cpu(unsigned n)
{
    return apic_of[n];
}

struct x86_region x86_board_screen(void)
{
    size_t len = (size_t)screen.pitch * screen.height;

    return (struct x86_region){screen.start, len <= KERNEL_SCREEN_MOST ? len : 0};
}

/* ---- power ------------------------------------------------------------------------- */

/* QEMU's exit port exits with 2 * status + 1, so success is signalled by ACPI, with 0. On a machine
 * that has neither, the CPU stops. */
void arch_shutdown(int status)
{
    if (status != 0) {
        x86_out32(EXIT_PORT, (uint32_t)status);
    }
    x86_out16(ACPI_PM1A, ACPI_SLEEP_S5);
    x86_stop();
}

void arch_reset(void)
{
    x86_out8(RESET_PORT, RESET_HARD);
    x86_out8(KEYBOARD_COMMAND, KEYBOARD_RESET);
    x86_stop();
}

/* Not supported yet. */
int arch_watchdog_set(unsigned ms)
{
    (void)ms;
    return -ENOSYS;
}

uint64_t arch_wall_clock(void)
{
    return cmos_clock();
}

/* ---- PCI --------------------------------------------------------------------------- */

static struct kymo_pci_table pci; /* [I] */
static struct pci_host pci_host = {.read = pci_config_read, .write = pci_config_write};
_Static_assert(PCI_LINES == MSI_LINES, "each line can be masked");

/* Devices may be only where the loader's map has no entry; not in the first MB, among the chips
 * below 4 GB, in the configuration space, or where the kernel draws. */
static bool pci_may_have(uint64_t start, uint64_t len)
{
    struct x86_region drawn = x86_board_screen();
    const struct x86_region kept[] = {
        {0, FIRST_MB}, {CHIPS, FOUR_GB - CHIPS}, pci_space, drawn, ram};

    for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (kept[i].len && ranges_overlap(start, len, kept[i].start, kept[i].len)) {
            return false;
        }
    }
    for (unsigned i = 0; i < taken_count && i < TAKEN_MOST; i++) {
        if (taken[i].len && ranges_overlap(start, len, taken[i].start, taken[i].len)) {
            return false;
        }
    }
    return taken_count > 0 && taken_count <= TAKEN_MOST;
}

/* This table is the drivers' copy; the kernel's own one determines what they may map. */
static void pci_find(void)
{
    pci_host.may_have = pci_may_have;
    pci_host.line_first = (uint16_t)x86_message_first();
    pci_host.lines = PCI_LINES;
    pci_host.msi_address = x86_message_address();
    pci_host.msi_data = x86_line_vector(x86_message_first());
    pci_enumerate(&pci_host, &pci);
    if (pci.refused || pci.omitted) {
        kprintf("kymo on %s: %u PCI functions left out for their memory, %u for lack of room\n",
                BOARD_NAME, pci.refused, pci.omitted);
    }
    __builtin_memcpy(arch_phys_to_virt(KYMO_PCI_TABLE), &pci, sizeof(pci));
    x86_cache_write_back();
}

/* Returns the line's number among those of messages, or PCI_LINES. */
static unsigned message_of(unsigned irq)
{
    unsigned n = irq - x86_message_first();

    return n < PCI_LINES ? n : PCI_LINES;
}

bool x86_board_message(unsigned line)
{
    return message_of(line) < PCI_LINES && msi_take(message_of(line));
}

static void message_unmask(unsigned irq)
{
    pci_line_enable(&pci_host, &pci, irq);
    if (msi_unmask(message_of(irq))) {
        x86_message_raise(irq);
    }
}

/* ---- interrupts -------------------------------------------------------------------- */

/* Silences the old controllers, which also exist: all lines masked, and their vectors moved out of
 * the way. */
static void pic_silence(void)
{
    static const struct {
        uint8_t port, value;
    } writes[] = {{0x20, 0x11}, {0x21, 0x20}, {0x21, 4}, {0x21, 1},    {0xa0, 0x11},
                  {0xa1, 0x28}, {0xa1, 2},    {0xa1, 1}, {0x21, 0xff}, {0xa1, 0xff}};

    for (unsigned i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        x86_out8(writes[i].port, writes[i].value);
    }
}

void x86_board_irq_init(void)
{
    if (x86_board_screen().len) {
        screen_init(x86_screen(), screen.pitch, screen.width, screen.height,
                    0xffu << screen.red | 0xffu << screen.green | 0xffu << screen.blue, font);
    }
    pic_silence();
    lines = ioapic_init(x86_device(IOAPIC), LINES_ISA);
    lines = lines < LINES_MOST ? lines : LINES_MOST;
    cpus_find();
    pci_find();
}

struct x86_reference x86_board_reference(void)
{
    struct x86_reference by = hpet_start(x86_device(HPET));

    return by.hz ? by : pit_start();
}

static unsigned alarm_line = LINES_MOST; /* [I] */

struct x86_alarm x86_board_alarm(void)
{
    unsigned line;
    struct x86_alarm alarm = hpet_alarm(LINES_ISA, &line);

    if (alarm.hz && line < lines) {
        alarm_line = line;
        ioapic_nmi(line);
        return alarm;
    }
    return (struct x86_alarm){NULL, 0};
}

unsigned arch_irq_count(void)
{
    return x86_message_first() + PCI_LINES;
}

bool arch_irq_reserved(unsigned irq)
{
    return irq == alarm_line || (irq >= lines && message_of(irq) >= pci_messages(&pci));
}

/* Returns whether this is a line of the I/O APIC. */
static bool is_line(unsigned irq)
{
    return irq < lines && irq != alarm_line;
}

void arch_irq_mask(unsigned irq)
{
    if (is_line(irq)) {
        ioapic_mask(irq);
    } else if (message_of(irq) < PCI_LINES) {
        msi_mask(message_of(irq));
    }
}

void arch_irq_unmask(unsigned irq)
{
    if (is_line(irq)) {
        ioapic_unmask(irq);
    } else if (message_of(irq) < PCI_LINES) {
        message_unmask(irq);
    }
}

const char *arch_irq_name(unsigned irq)
{
    static const char *const names[] = {
        [1] = "keyboard", [3] = "com2", [4] = "com1", [8] = "rtc", [9] = "acpi", [12] = "mouse"};

    return irq < sizeof(names) / sizeof(names[0]) ? names[irq] : NULL;
}

/* ---- console, memory, names -------------------------------------------------------- */

void arch_console_putc(char c)
{
    uart16550_putc(COM1, c);
    screen_putc(c);
}

bool arch_console_ready(void)
{
    return uart16550_ready(COM1);
}

/* Allows the HPET, of which the kernel reads the counter at boot and uses the last timer; PCI's
 * table and the ranges in it. The console and the link are I/O ports. */
bool arch_device_allowed(paddr_t pa, size_t len)
{
    return range_inside(pa, len, HPET, PAGE) ||
           range_inside(pa, len, KYMO_PCI_TABLE, KYMO_PCI_TABLE_BYTES) || pci_has(&pci, pa, len);
}
