/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The babeltrace2 plugin `kymo`: its component class source.kymo.kev reads a capture (.kev). A port
 * for each CPU, so that babeltrace2's own muxer merges them: the time range of a CPU's loss may
 * begin before events of other CPUs.
 *
 * Parameters: inputs (an array of one path), recover (boolean: pass over damage), elf (a text: ELF
 * files and folders of programs that log, with colons between them).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/babeltrace2/source.h"

#define TRACE_BEGINS "TRACE_HEADER_BEGIN::"

struct kev_capture *source_open(const struct source *source, int cpu, char **why)
{
    struct kev_capture *capture = kev_capture_new();
    char number[16];

    snprintf(number, sizeof(number), "%d", cpu);
    *why = NULL;
    if (capture == NULL) {
        return NULL;
    }
    if (kev_capture_set_log_text(capture, source->elf) == KEV_FAILED ||
        (source->recover && kev_capture_set_recover(capture, 1) == KEV_FAILED) ||
        (cpu >= 0 && kev_capture_select(capture, "cpu", number) == KEV_FAILED) ||
        kev_capture_open(capture, source->path) == KEV_FAILED) {
        *why = source_text(kev_capture_fault(capture)->text);
        kev_capture_free(capture);
        capture = NULL;
    }
    return capture;
}

/* Reads the parameters. Returns NULL, or what is wrong with them. */
static const char *parameters_read(struct source *source, const bt_value *params)
{
    const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
    const bt_value *recover = bt_value_map_borrow_entry_value_const(params, "recover");
    const bt_value *elf = bt_value_map_borrow_entry_value_const(params, "elf");
    const bt_value *input;

    if (inputs == NULL || !bt_value_is_array(inputs) || bt_value_array_get_length(inputs) != 1 ||
        !bt_value_is_string(input = bt_value_array_borrow_element_by_index_const(inputs, 0))) {
        return "`inputs` must be an array of one path, as in --params='inputs=[\"trace.kev\"]'";
    }
    if (recover != NULL && !bt_value_is_bool(recover)) {
        return "`recover` must be true or false";
    }
    if (elf != NULL && !bt_value_is_string(elf)) {
        return "`elf` must be a text: ELF files and folders, with colons between them";
    }
    source->elf = elf == NULL ? NULL : strdup(bt_value_string_get(elf));
    source->recover = recover != NULL && bt_value_bool_get(recover);
    source->path = strdup(bt_value_string_get(input));
    return source->path == NULL || (elf != NULL && source->elf == NULL) ? "no memory" : NULL;
}

static void source_free(struct source *source)
{
    source_forget(source);
    free(source->path);
    free(source->elf);
    free(source);
}

static bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self, bt_self_component_source_configuration *config,
                  const bt_value *params, void *data)
{
    struct source *source = calloc(1, sizeof(*source));
    bt_self_component *component = bt_self_component_source_as_self_component(self);

    (void)config;
    (void)data;
    if (source == NULL) {
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
    }
    source->self = component;

    const char *wrong = parameters_read(source, params);
    char *why = NULL;
    struct kev_capture *capture = wrong == NULL ? source_open(source, -1, &why) : NULL;
    bool ok = capture != NULL && source_describe(source, capture);

    if (!ok && capture != NULL) {
        why = source_text(kev_capture_fault(capture)->text);
    }
    for (unsigned cpu = 0; ok && cpu < source->cpus; cpu++) {
        char name[16];

        snprintf(name, sizeof(name), "cpu%u", cpu);
        ok = bt_self_component_source_add_output_port(self, name, (void *)(uintptr_t)cpu, NULL) ==
             BT_SELF_COMPONENT_ADD_PORT_STATUS_OK;
    }
    kev_capture_free(capture);
    if (!ok) {
        bt_current_thread_error_append_cause_from_component(component, __FILE__, __LINE__, "%s",
                                                            wrong != NULL ? wrong
                                                            : why != NULL && *why != '\0'
                                                                ? why
                                                                : "no memory");
        free(why);
        source_free(source);
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
    }
    bt_self_component_set_data(component, source);
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void source_finalize(bt_self_component_source *self)
{
    source_free(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

/* Is it a capture, or was it one before it was damaged? Its first bytes say so. */
static bool path_is_capture(const char *path)
{
    char begin[sizeof(TRACE_BEGINS) - 1];
    FILE *file = fopen(path, "rb");
    bool is = file != NULL && fread(begin, 1, sizeof(begin), file) == sizeof(begin) &&
              memcmp(begin, TRACE_BEGINS, sizeof(begin)) == 0;

    if (file != NULL) {
        fclose(file);
    }
    return is;
}

/* babeltrace.support-info: `babeltrace2 FILE.kev` asks each source whether it takes FILE. */
static bt_component_class_query_method_status
source_query(bt_self_component_class_source *self, bt_private_query_executor *executor,
             const char *object, const bt_value *params, void *data, const bt_value **result)
{
    (void)self;
    (void)executor;
    (void)data;
    if (strcmp(object, "babeltrace.support-info") != 0) {
        return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
    }
    const bt_value *type = bt_value_map_borrow_entry_value_const(params, "type");
    const bt_value *input = bt_value_map_borrow_entry_value_const(params, "input");
    bool is = type != NULL && bt_value_is_string(type) && input != NULL &&
              bt_value_is_string(input) && strcmp(bt_value_string_get(type), "file") == 0 &&
              path_is_capture(bt_value_string_get(input));

    *result = bt_value_real_create_init(is ? 0.9 : 0.0);
    return *result != NULL ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
                           : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

BT_PLUGIN_MODULE();
BT_PLUGIN(kymo);
BT_PLUGIN_DESCRIPTION("Captures of the Kymo kernel");
BT_PLUGIN_LICENSE("BSD-2-Clause");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(kev, iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(kev, "Reads a capture (.kev) of Kymo or QNX");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(
    kev, "Parameters: inputs, an array of one path; recover, true to pass over damage; elf, ELF "
         "files and folders of programs that log, with colons between them.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(kev, source_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(kev, source_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(kev, source_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(kev, iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(kev, iterator_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
    kev, iterator_seek_beginning, NULL);
