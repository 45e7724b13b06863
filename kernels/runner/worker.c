/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The worker's loop: one request, one action on the plug-in, one reply. */
#include "worker_state.h"
#include "worker_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void refuse(fpo_worker_reply *reply, const char *what, uint64_t value)
{
    reply->status = FPO_PLUGIN_FAILED;
    snprintf(reply->why, sizeof reply->why, "worker: %s (%" PRIu64 ")", what, value);
}

/* Text into the arena; value is its length, whether or not it fits. */
static void answer_text(fpo_worker *w, char *string, fpo_worker_reply *reply)
{
    if (string == NULL) {
        refuse(reply, "no memory for a description", 0);
        return;
    }
    size_t length = strlen(string);
    if (length <= w->arena_bytes) {
        memcpy(w->arena, string, length);
    }
    reply->value = length;
    free(string);
}

static void load(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    if (!w->loaded) {
        fpo_error error;
        if (fpo_plugin_load(request->path, &w->plugin, &error) != FPO_OK) {
            reply->status = error.status == FPO_ERR_ARGUMENT ? FPO_PLUGIN_UNSUPPORTED : FPO_PLUGIN_FAILED;
            snprintf(reply->why, sizeof reply->why, "%s", error.message);
            return;
        }
        w->loaded = true;
    }
    answer_text(w, fpo_describe_plugin(&w->plugin), reply);
}

static void devices(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    (void)request;
    answer_text(w, fpo_describe_devices(&w->plugin), reply);
}

static void open_device(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    reply->status = w->plugin.memory.open(request->device, reply->why);
}

static void map(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    if (w->arena != NULL) {
        munmap(w->arena, w->arena_bytes);
    }
    w->arena_bytes = (size_t)request->bytes;
    w->arena = mmap(NULL, w->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, w->arena_file, 0);
    if (w->arena == MAP_FAILED) {
        w->arena = NULL;
        w->arena_bytes = 0;
        reply->status = FPO_PLUGIN_OUT_OF_MEMORY;
        snprintf(reply->why, sizeof reply->why, "worker: cannot map %" PRIu64 " bytes: %s", request->bytes,
                 strerror(errno));
    }
}

static void allocate(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    if (request->slot >= FPO_SLOT_COUNT || w->slot[request->slot] != NULL) {
        refuse(reply, "no such free buffer", request->slot);
        return;
    }
    reply->status = w->plugin.memory.allocate(request->bytes, &w->slot[request->slot], reply->why);
    if (reply->status != FPO_PLUGIN_OK) {
        w->slot[request->slot] = NULL;
        return;
    }
    w->slot_bytes[request->slot] = request->bytes;
    if ((uintptr_t)w->slot[request->slot] % 256 != 0) {
        refuse(reply, "the plug-in's memory returned an address that is no multiple of 256",
               (uint64_t)(uintptr_t)w->slot[request->slot]);
    }
}

static void release(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    for (uint32_t i = 0; i < FPO_SLOT_COUNT; i++) {
        if (w->slot[i] != NULL && (request->slot == i || request->slot >= FPO_SLOT_COUNT)) {
            fpo_plugin_status status = w->plugin.memory.release(w->slot[i], reply->why);
            reply->status = status != FPO_PLUGIN_OK ? status : reply->status;
            w->slot[i] = NULL;
            w->slot_bytes[i] = 0;
        }
    }
}

static void transfer(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    uint32_t slot = request->slot;
    if (slot >= FPO_SLOT_COUNT || w->slot[slot] == NULL || request->offset > w->slot_bytes[slot] ||
        request->bytes > w->slot_bytes[slot] - request->offset || request->arena > w->arena_bytes ||
        request->bytes > w->arena_bytes - request->arena) {
        refuse(reply, "a transfer outside its buffer", request->bytes);
        return;
    }
    void *device = (char *)w->slot[slot] + request->offset;
    void *host = w->arena + request->arena;
    if (request->op == FPO_WORKER_UPLOAD) {
        reply->status = w->plugin.memory.upload(device, host, request->bytes, reply->why);
    } else {
        reply->status = w->plugin.memory.download(host, device, request->bytes, reply->why);
    }
}

static void check(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    const fpo_plugin *table = &w->plugin.table;
    const fpo_kernel *kernel = fpo_plugin_kernel(&w->plugin, request->problem[0].kernel);
    fpo_kernel_problem problem = fpo_worker_problem(w, &request->problem[0]);
    uint32_t count = 1;
    if (table->check != NULL) {
        reply->status = table->check(kernel, &problem, reply->why);
    }
    if (reply->status == FPO_PLUGIN_OK && table->variants != NULL) {
        reply->status = table->variants(kernel, &problem, &count, reply->why);
        if (reply->status == FPO_PLUGIN_OK && count == 0) {
            refuse(reply, "the plug-in says that this problem has no variants", 0);
        }
    }
    reply->value = count;
}

static void variant(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    const fpo_plugin *table = &w->plugin.table;
    const fpo_kernel *kernel = fpo_plugin_kernel(&w->plugin, request->problem[0].kernel);
    fpo_kernel_problem problem = fpo_worker_problem(w, &request->problem[0]);
    fpo_kernel_variant description = {.size = sizeof description};
    if (table->describe != NULL) {
        reply->status = table->describe(kernel, &problem, &description, reply->why);
        description.name[sizeof description.name - 1] = '\0';
    }
    if (reply->status == FPO_PLUGIN_OK && table->workspace != NULL) {
        reply->status = table->workspace(kernel, &problem, &reply->workspace, reply->why);
    }
    if (reply->status == FPO_PLUGIN_OK) {
        const fpo_kernel_order *order = description.order;
        fpo_kernel_order copy = fpo_plugin_order_copy(
            order != NULL ? order : fpo_plugin_kernel_copy(&w->plugin, request->problem[0].kernel).order);
        answer_text(w, fpo_describe_variant(description.name, &copy), reply);
    }
}

static void launch(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    for (uint32_t i = 0; i < request->launches && i < FPO_WORKER_LAUNCHES && reply->status == FPO_PLUGIN_OK; i++) {
        const fpo_kernel *kernel = fpo_plugin_kernel(&w->plugin, request->problem[0].kernel);
        fpo_kernel_problem problem = fpo_worker_problem(w, &request->problem[i]);
        reply->status = w->plugin.table.run(kernel, &problem, reply->why);
    }
    if (reply->status == FPO_PLUGIN_OK) {
        reply->status = w->plugin.memory.synchronise(reply->why);
    }
}

static void trace(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    enum { MOST = 2048 };
    const fpo_kernel *kernel = fpo_plugin_kernel(&w->plugin, request->problem[0].kernel);
    fpo_kernel_problem problem = fpo_worker_problem(w, &request->problem[0]);
    char *text = malloc(MOST);
    if (text != NULL) {
        reply->status = fpo_worker_trace(&w->plugin, kernel, &problem, text, MOST, reply->why);
    }
    answer_text(w, text, reply);
}

typedef void (*action)(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply);
static const action actions[FPO_WORKER_OP_COUNT] = {
    [FPO_WORKER_LOAD] = load,       [FPO_WORKER_DEVICES] = devices,   [FPO_WORKER_OPEN] = open_device,
    [FPO_WORKER_MAP] = map,         [FPO_WORKER_ALLOCATE] = allocate, [FPO_WORKER_RELEASE] = release,
    [FPO_WORKER_UPLOAD] = transfer, [FPO_WORKER_DOWNLOAD] = transfer, [FPO_WORKER_CHECK] = check,
    [FPO_WORKER_VARIANT] = variant, [FPO_WORKER_LAUNCH] = launch,     [FPO_WORKER_TRACE] = trace,
    [FPO_WORKER_QUIT] = release,
};

static void act(fpo_worker *w, const fpo_worker_request *request, fpo_worker_reply *reply)
{
    uint32_t op = request->op;
    bool needs_kernel =
        op == FPO_WORKER_CHECK || op == FPO_WORKER_VARIANT || op == FPO_WORKER_LAUNCH || op == FPO_WORKER_TRACE;
    if (op >= FPO_WORKER_OP_COUNT) {
        refuse(reply, "unknown request", op);
    } else if (!w->loaded && op != FPO_WORKER_LOAD && op != FPO_WORKER_MAP && op != FPO_WORKER_QUIT) {
        refuse(reply, "no plug-in is loaded", op);
    } else if (needs_kernel && request->problem[0].kernel >= w->plugin.table.kernel_count) {
        refuse(reply, "no such kernel", request->problem[0].kernel);
    } else {
        actions[op](w, request, reply);
    }
    reply->why[sizeof reply->why - 1] = '\0';
}

int fpo_worker_main(int socket, int arena)
{
    /* A worker must not outlive its runner, and a crash must reach the runner as the signal that it is, whatever
     * handlers a sanitizer or a preloaded library has installed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        signal(fatal[i], SIG_DFL);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    fpo_worker *w = calloc(1, sizeof *w);
    fpo_worker_request *request = malloc(sizeof *request);
    fpo_worker_reply *reply = malloc(sizeof *reply);
    bool quit = w == NULL || request == NULL || reply == NULL;
    int status = quit ? 3 : 0;
    if (w != NULL) {
        w->arena_file = arena;
    }
    while (!quit) {
        ssize_t got = recv(socket, request, sizeof *request, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got != (ssize_t)sizeof *request) {
            status = got == 0 ? 0 : 3; /* 0: the runner is gone */
            break;
        }
        memset(reply, 0, sizeof *reply);
        act(w, request, reply);
        quit = request->op == FPO_WORKER_QUIT;
        if (send(socket, reply, sizeof *reply, MSG_NOSIGNAL) != (ssize_t)sizeof *reply) {
            status = 3;
            break;
        }
    }
    if (w != NULL && w->arena != NULL) {
        munmap(w->arena, w->arena_bytes);
    }
    free(reply);
    free(request);
    free(w);
    return status;
}
