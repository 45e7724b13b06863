/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The processes of a runner: started with the plug-in and the device, stopped, and started again. */
#include "runner.h"

#include "runner_process.h"

#include <stdio.h>
#include <string.h>

/* A request whose answer is a text in the arena, which grows if the text does not fit. */
static fpo_status ask_for_text(fpo_child *child, const fpo_worker_request *request, size_t *length, fpo_error *error)
{
    fpo_worker_reply reply;
    fpo_status status = fpo_child_ask(child, request, &reply, error);
    if (status == FPO_OK && reply.status == FPO_PLUGIN_OK && reply.value > child->arena_bytes) {
        status = fpo_child_reserve(child, (size_t)reply.value, error);
        status = status == FPO_OK ? fpo_child_ask(child, request, &reply, error) : status;
    }
    if (status == FPO_OK && (reply.status != FPO_PLUGIN_OK || reply.value > child->arena_bytes)) {
        bool unusable = reply.status == FPO_PLUGIN_UNSUPPORTED; /* a description that makes no sense */
        status = fpo_fail(error, unusable ? FPO_ERR_ARGUMENT : FPO_ERR_KERNEL, "%s", reply.why);
    }
    *length = status == FPO_OK ? (size_t)reply.value : 0;
    return status;
}

/* A worker with the plug-in in it. What it declares is read the first time and must be the same later. */
fpo_status fpo_runner_load(fpo_runner *runner, fpo_error *error)
{
    fpo_child_options options = {.program = runner->options.program,
                                 .environment = (const char *const *)runner->virtual_gpu.environment,
                                 .time_limit = runner->options.time_limit};
    fpo_worker_request request = {.op = FPO_WORKER_LOAD};
    size_t length = 0;
    snprintf(request.path, sizeof request.path, "%s", runner->options.plugin);
    fpo_status status = fpo_child_start(&runner->child, &options, error);
    if (status != FPO_OK) {
        return status;
    }
    status = ask_for_text(&runner->child, &request, &length, error);
    if (status == FPO_OK && runner->plugin.json == NULL) {
        status = fpo_plugin_info_parse((const char *)runner->child.arena, length, &runner->plugin, error);
    }
    request.op = FPO_WORKER_DEVICES;
    if (status == FPO_OK && runner->devices.json == NULL) {
        status = ask_for_text(&runner->child, &request, &length, error);
        status = status == FPO_OK
                     ? fpo_devices_info_parse((const char *)runner->child.arena, length, &runner->devices, error)
                     : status;
    }
    if (status != FPO_OK) {
        char cause[FPO_MESSAGE_SIZE], log[FPO_MESSAGE_SIZE / 4];
        snprintf(cause, sizeof cause, "%s", error != NULL ? error->message : "");
        fpo_child_log(&runner->child, log, sizeof log);
        log[strcspn(log, "\n")] = '\0';
        fpo_child_stop(&runner->child, true);
        return fpo_fail(error, status, "while loading %s: %.320s%s%s", runner->options.plugin, cause,
                        log[0] != '\0' ? "; it printed: " : "", log);
    }
    runner->running = runner->fresh = true;
    return FPO_OK;
}

fpo_status fpo_runner_open_device(fpo_runner *runner, fpo_error *error)
{
    fpo_worker_request request = {.op = FPO_WORKER_OPEN, .device = runner->devices.devices[runner->device].index};
    fpo_worker_reply reply;
    fpo_status status = fpo_child_ask(&runner->child, &request, &reply, error);
    if (status == FPO_OK && reply.status != FPO_PLUGIN_OK) {
        status = fpo_fail(error, FPO_ERR_KERNEL, "cannot open the device: %s", reply.why);
    }
    return status;
}

fpo_status fpo_runner_look(fpo_runner *runner, const fpo_runner_options *options, fpo_error *error)
{
    *runner = (fpo_runner){.options = *options};
    runner->options.time_limit = options->time_limit > 0 ? options->time_limit : 60;
    fpo_status status = fpo_device_is_virtual(options->device)
                            ? fpo_virtual_parse(options->device, &runner->virtual_gpu, error)
                            : FPO_OK;
    status = status == FPO_OK ? fpo_runner_load(runner, error) : status;
    if (status != FPO_OK) {
        fpo_runner_close(runner, NULL);
    }
    return status;
}

fpo_status fpo_runner_open(fpo_runner *runner, const fpo_runner_options *options, fpo_error *error)
{
    fpo_status status = fpo_runner_look(runner, options, error);
    if (status != FPO_OK) {
        return status;
    }
    status = fpo_device_choose(runner, error);
    status = status == FPO_OK ? fpo_runner_open_device(runner, error) : status;
    if (status != FPO_OK) {
        fpo_runner_close(runner, NULL);
    }
    return status;
}

/* A kernel may crash when its process ends; that is remembered until the runner is closed. */
void fpo_runner_stop(fpo_runner *runner, bool kill_it)
{
    bool watched = runner->running && !kill_it && runner->child.pid > 0;
    if (runner->running) {
        fpo_child_stop(&runner->child, kill_it);
        runner->running = false;
    }
    bool clean = runner->child.ending.kind == FPO_ENDING_EXIT && runner->child.ending.number == 0;
    if (watched && !clean && runner->bad_end[0] == '\0') {
        char text[128];
        fpo_ending_text(&runner->child.ending, runner->options.time_limit, text, sizeof text);
        snprintf(runner->bad_end, sizeof runner->bad_end, "the process of %.90s failed when it was told to end: %s",
                 runner->fresh ? runner->plugin.name : runner->plugin.kernels[runner->kernel].name, text);
    }
}

fpo_status fpo_runner_close(fpo_runner *runner, fpo_error *error)
{
    fpo_runner_stop(runner, false);
    fpo_plugin_info_free(&runner->plugin);
    fpo_devices_info_free(&runner->devices);
    fpo_virtual_free(&runner->virtual_gpu);
    return runner->bad_end[0] == '\0' ? FPO_OK : fpo_fail(error, FPO_ERR_KERNEL, "%s", runner->bad_end);
}
