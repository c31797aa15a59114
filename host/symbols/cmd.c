/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo symbols: which ELF files the addresses of a capture need, which of them are here, and what
 * lies at an address. kymo-symbols(1), docs/reference/symbols.md.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/json_text.h"
#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/remote/elf_id.h"
#include "host/symbols/symbols.h"
#include "host/verify/verify.h"

#define PATHS_MOST 32
#define ELFS_MOST 1024 /* the kernel and the programs of a boot image */

static const char symbols_help[] =
    "Usage: kymo symbols [options] FILE [ADDRESS...]\n"
    "\n"
    "Shows which ELF files the addresses of a capture need, by build id, and which\n"
    "of them are found; or what lies at each ADDRESS: program, function, line of\n"
    "source. FILE - is standard input.\n"
    "\n"
    "  --elf PATH   look there, too: an ELF file, or a folder with the kernel's\n"
    "  --json       for programs: one JSON object a line\n"
    "  --recover    read the undamaged parts of a damaged file\n"
    "  -h, --help   print this text\n"
    "\n"
    "ADDRESS: 0x40081234 of the kernel, client:0x10400 of a program's ELF file,\n"
    "5:0x10400 of process 5, where it was loaded.\n"
    "Exit status: 0 all found, 1 something is missing, 2 usage error.\n";

struct elf {
    char name[64];
    char id[ELF_ID_TEXT]; /* "": unknown */
    char *path;           /* NULL: there is none */
    bool in_image;        /* the kernel's boot image has it */
    bool ran;             /* a process of the capture had it as its text */
};

struct request {
    const char *input;
    const char *paths[PATHS_MOST];
    unsigned npaths;
    bool json, recover;
    char **addresses;
    int naddresses;
    struct elf *elfs;
    unsigned nelfs;
    bool full;       /* there are more than ELFS_MOST */
    bool texts_seen; /* the capture says what processes ran */
};

enum { OPT_ELF = 256, OPT_JSON, OPT_RECOVER };

static const struct option symbols_options[] = {
    {"elf", required_argument, NULL, OPT_ELF},
    {"json", no_argument, NULL, OPT_JSON},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Returns the exit status, -1 to continue. */
static int symbols_options_parse(struct request *request, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", symbols_options, NULL)) != -1) {
        switch (option) {
        case 'h':
            return kymo_help(&kymo_symbols_command);
        case OPT_ELF:
            if (request->npaths == PATHS_MOST) {
                return kymo_usage("symbols", "symbols: --elf: at most %d times", PATHS_MOST);
            }
            request->paths[request->npaths++] = optarg;
            break;
        case OPT_JSON:
            request->json = true;
            break;
        case OPT_RECOVER:
            request->recover = true;
            break;
        default:
            return kymo_bad_option("symbols", symbols_options, argc, argv, option);
        }
    }
    if (optind == argc) {
        return kymo_usage("symbols", "symbols: which capture?");
    }
    request->input = argv[optind++];
    request->addresses = argv + optind;
    request->naddresses = argc - optind;
    return -1;
}

/* ---- the ELF files ----------------------------------------------------------------- */

static struct elf *symbols_elf_of(struct request *request, const char *name)
{
    for (unsigned i = 0; i < request->nelfs; i++) {
        if (strcmp(request->elfs[i].name, name) == 0) {
            return &request->elfs[i];
        }
    }
    if (request->nelfs == ELFS_MOST) {
        request->full = true;
        return NULL;
    }
    struct elf *elf = &request->elfs[request->nelfs++];
    snprintf(elf->name, sizeof(elf->name), "%s", name);
    return elf;
}

static void elf_found(void *arg, const struct elf_found *found)
{
    struct elf *elf = symbols_elf_of(arg, found->name);

    if (elf != NULL && !elf->in_image) {
        elf->in_image = true;
        if (found->build_id != NULL) {
            elf_id_text(found->build_id, elf->id);
        }
        elf->path = found->path == NULL ? NULL : strdup(found->path);
        if (found->path != NULL && elf->path == NULL) {
            kymo_no_memory();
        }
    }
}

static void elf_ran(void *arg, const char *program, uint32_t pid)
{
    struct elf *elf = symbols_elf_of(arg, program);

    (void)pid;
    if (elf != NULL) {
        elf->ran = true;
    }
    ((struct request *)arg)->texts_seen = true;
}

/* Reads all of the capture for the texts of its processes. Returns false after a message. */
static bool texts_read(struct kev *kev, struct symbols *symbols)
{
    struct kev_event event;
    struct kev_error error;
    uint64_t n = 0;

    while (kev_next(kev, &event, &error) == KEV_EVENT) {
        symbols_learn(symbols, &event);
        if (++n % KEV_PROGRESS_EVENTS == 0) {
            kymo_progress("reading", event.offset, kev_info(kev)->size);
        }
    }
    kymo_progress_end();
    return verify_end(kev) == KYMO_OK;
}

/* ---- what is printed --------------------------------------------------------------- */

static void symbols_json_text(const char *key, const char *text)
{
    printf("\"%s\":", key);
    json_put(stdout, text == NULL || *text == '\0' ? NULL : text);
}

/* A text of the capture or a file: no byte of it reaches the terminal as a control. Returns the
 * columns that it takes. */
static int symbols_text_put(const char *text)
{
    size_t left = strlen(text);
    char one[4];
    int columns = 0;

    for (unsigned taken; left > 0; text += taken, left -= taken) {
        unsigned n = escape_line_char(one, text, left, &taken);

        fwrite(one, 1, n, stdout);
        columns += taken > 1 ? 1 : (int)n;
    }
    return columns;
}

static const char *detail_text(enum dt_detail detail)
{
    switch (detail) {
    case DT_DETAIL_LINES:
        return "lines";
    case DT_DETAIL_NAMES:
        return "names";
    default:
        return "none";
    }
}

/* Returns true if the ELF file has lines of source. */
static bool elf_show(const struct request *request, const struct symbols *symbols,
                     const struct elf *elf)
{
    bool is_kernel = strcmp(elf->name, "kernel") == 0;
    enum dt_detail detail = symbols_detail(symbols, is_kernel ? NULL : elf->name);

    if (request->json) {
        putchar('{');
        symbols_json_text("name", elf->name);
        putchar(',');
        symbols_json_text("build_id", elf->id);
        printf(",\"has\":\"%s\",", detail_text(detail));
        symbols_json_text("file", elf->path);
        printf("}\n");
    } else {
        int columns = symbols_text_put(elf->name);

        printf("%*s%-40s %-6s ", columns < 16 ? 17 - columns : 1, "",
               *elf->id ? elf->id : "unknown", detail_text(detail));
        symbols_text_put(elf->path       ? elf->path
                         : is_kernel     ? "not found"
                         : elf->in_image ? "not found; the boot image's copy has names only"
                                         : "not found");
        putchar('\n');
    }
    return detail == DT_DETAIL_LINES;
}

static bool elfs_show(const struct request *request, const struct symbols *symbols)
{
    bool all = true;

    if (!request->json) {
        printf("%-16s %-40s %-6s %s\n", "NAME", "BUILD ID", "HAS", "FILE");
    }
    for (unsigned i = 0; i < request->nelfs; i++) {
        const struct elf *elf = &request->elfs[i];

        /* Which programs ran, not all captures say; then all are shown. */
        if (i == 0 || elf->ran || !request->texts_seen) {
            all &= elf_show(request, symbols, elf);
        }
    }
    return all;
}

/* Names one address. Returns the exit status. */
static int address_show(const struct request *request, struct symbols *symbols, const char *word)
{
    const char *colon = strrchr(word, ':');
    const char *digits = colon == NULL ? word : colon + 1;
    char *object = colon == NULL ? NULL : strndup(word, (size_t)(colon - word));
    char *end, *pid_end = NULL, text[SYMBOLS_NAME_MOST];

    if (colon != NULL && object == NULL) {
        kymo_no_memory();
    }
    errno = 0;
    uint64_t address = strtoull(digits, &end, 16);
    if (end == digits || *end != '\0' || errno != 0 || strchr(digits, '-') != NULL) {
        free(object);
        return kymo_usage("symbols", "symbols: %s: not [PROGRAM:|PID:]ADDRESS in hexadecimal",
                          word);
    }
    unsigned long pid = object == NULL ? 0 : strtoul(object, &pid_end, 10);
    bool is_pid = pid_end != NULL && pid_end != object && *pid_end == '\0' && pid <= UINT32_MAX;
    bool is_kernel = object == NULL || strcmp(object, "kernel") == 0;
    bool found = is_pid ? pid != 0 && symbols_name(symbols, (uint32_t)pid, address, text)
                        : symbols_name_linked(symbols, is_kernel ? NULL : object, address, text);
    if (request->json) {
        putchar('{');
        symbols_json_text("address", word);
        putchar(',');
        symbols_json_text("place", found ? text : NULL);
        printf("}\n");
    } else {
        symbols_text_put(word);
        putchar(' ');
        symbols_text_put(found ? text : "unknown");
        putchar('\n');
    }
    free(object);
    return found ? KYMO_OK : KYMO_FAILURE;
}

static int addresses_show(const struct request *request, struct symbols *symbols)
{
    int status = KYMO_OK;

    for (int i = 0; i < request->naddresses && status != KYMO_USAGE; i++) {
        int one = address_show(request, symbols, request->addresses[i]);

        status = one == KYMO_OK ? status : one;
    }
    return status;
}

/* ---- the command ------------------------------------------------------------------- */

/* The kernel stands first, also where its ELF file is not found. */
static void kernel_enter(struct request *request, const struct kev_info *info)
{
    struct elf *elf = symbols_elf_of(request, "kernel");

    if (info->build_id != NULL && info->build_id_len == ELF_ID_BYTES) {
        elf_id_text(info->build_id, elf->id);
    }
}

static int symbols_show(struct request *request, struct kev *kev)
{
    struct symbols *symbols;
    int status;

    kernel_enter(request, kev_info(kev));
    if (request->elfs[0].id[0] == '\0') {
        kymo_error("%s: this capture has no build id: it does not say which ELF files it needs",
                   request->input);
        return KYMO_FAILURE;
    }
    symbols = symbols_open(kev, "--elf", request->paths, request->npaths, elf_found, request);
    if (symbols == NULL) {
        return KYMO_FAILURE;
    }
    bool whole = texts_read(kev, symbols);
    symbols_programs(symbols, elf_ran, request);
    if (request->naddresses > 0) {
        status = addresses_show(request, symbols);
    } else {
        status = elfs_show(request, symbols) ? KYMO_OK : KYMO_FAILURE;
        if (request->full) {
            kymo_error("%s: has more than %d programs: the others are left out", request->input,
                       ELFS_MOST);
            status = KYMO_FAILURE;
        }
    }
    symbols_close(symbols);
    return status == KYMO_OK && !whole ? KYMO_FAILURE : status;
}

static int symbols_main(int argc, char **argv)
{
    struct request request = {0};
    struct kev_options options = {.progress = kymo_progress, .progress_arg = (void *)"reading"};
    struct kev_error error;
    int status = symbols_options_parse(&request, argc, argv);
    struct kev *kev;

    if (status >= 0) {
        return status;
    }
    options.recover = request.recover;
    request.elfs = calloc(ELFS_MOST, sizeof(*request.elfs));
    kev = request.elfs == NULL ? NULL : kev_open(request.input, &options, &error);
    kymo_progress_end();
    if (kev == NULL) {
        if (request.elfs == NULL) {
            kymo_error("out of memory");
        } else {
            verify_refuse(&error);
        }
        free(request.elfs);
        return KYMO_FAILURE;
    }
    status = kymo_stdout_end(symbols_show(&request, kev));
    kev_close(kev);
    for (unsigned i = 0; i < request.nelfs; i++) {
        free(request.elfs[i].path);
    }
    free(request.elfs);
    return status;
}

const struct kymo_command kymo_symbols_command = {
    .name = "symbols",
    .summary = "show which ELF files a capture needs, and name addresses",
    .run = symbols_main,
    .help = symbols_help,
};
