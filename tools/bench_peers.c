/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The Python process of bench --recipe: tools/bench_peers.py, which says what is asked and answered. */
#include "bench_peers.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const char fpo_bench_peers_script[];
const char *const fpo_peer_names[FPO_PEERS] = {"ml_dtypes", "torch", "torchao"};

enum { DATA = 3 }; /* the descriptor of the numbers, as the child sees it */

/* The numbers in a file that has no name. */
static FILE *write_numbers(const float *values, int64_t count)
{
    FILE *file = tmpfile();
    if (file != NULL && (fwrite(values, sizeof *values, (size_t)count, file) != (size_t)count || fflush(file) != 0)) {
        fclose(file);
        return NULL;
    }
    return file;
}

/* The child's end and the data go through high descriptors: one of them may already be 0, 1 or 3. */
static int spawn(const char *python, int end, int data, char **arguments, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    int high_end = fcntl(end, F_DUPFD_CLOEXEC, 16), high_data = fcntl(data, F_DUPFD_CLOEXEC, 16);
    int failed = high_end < 0 || high_data < 0;
    posix_spawn_file_actions_init(&files);
    if (!failed) {
        posix_spawn_file_actions_adddup2(&files, high_end, 0);
        posix_spawn_file_actions_adddup2(&files, high_end, 1);
        posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&files, high_data, DATA);
        failed = posix_spawnp(pid, python, &files, NULL, arguments, environ);
    }
    posix_spawn_file_actions_destroy(&files);
    close(high_end);
    close(high_data);
    return failed;
}

/* One line of answer as an object; NULL when the child has ended. */
static json_t *read_answer(const fpo_peers *peers)
{
    char *line = NULL;
    size_t size = 0;
    json_t *answer = getline(&line, &size, peers->answers) > 0 ? json_loads(line, 0, NULL) : NULL;
    free(line);
    return answer;
}

/* The names and versions of what there is, from the child's first line. */
static void greet(fpo_peers *peers, const char *python)
{
    json_t *versions = read_answer(peers), *version;
    const char *missing = json_string_value(json_object_get(versions, "missing")), *name;
    size_t at = 0;
    if (versions == NULL)
        snprintf(peers->libraries, sizeof peers->libraries, "%s did not answer", python);
    else if (missing != NULL)
        snprintf(peers->libraries, sizeof peers->libraries, "%s has %s", python, missing);
    else
        json_object_foreach(versions, name, version) if (at < sizeof peers->libraries) at +=
            (size_t)snprintf(peers->libraries + at, sizeof peers->libraries - at, "%s%s %s", at > 0 ? ", " : "", name,
                             json_string_value(version));
    peers->present = at > 0;
    json_decref(versions);
}

void fpo_peers_open(fpo_peers *peers, const float *values, int64_t rows, int64_t k, int threads)
{
    const char *python = getenv("FPO_PYTHON");
    char shape[3][24], program[] = "python3", command[] = "-c", file[] = "/dev/fd/3";
    if (python == NULL || *python == '\0')
        python = program;
    *peers = (fpo_peers){.socket = -1};
    snprintf(peers->libraries, sizeof peers->libraries, "%s could not be started", python);
    snprintf(shape[0], sizeof shape[0], "%lld", (long long)rows);
    snprintf(shape[1], sizeof shape[1], "%lld", (long long)k);
    snprintf(shape[2], sizeof shape[2], "%d", threads);
    /* Its own path as argument 0, by which Python finds the environment that it belongs to. */
    char *script = strdup(fpo_bench_peers_script), *path = strdup(python);
    char *arguments[] = {path, command, script, file, shape[0], shape[1], shape[2], NULL};
    int ends[2] = {-1, -1};
    FILE *numbers = write_numbers(values, rows * k);
    if (script != NULL && path != NULL && numbers != NULL &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        pid_t pid;
        bool started = spawn(python, ends[1], fileno(numbers), arguments, &pid) == 0;
        close(ends[1]);
        peers->socket = ends[0];
        peers->pid = started ? pid : 0;
        int reading = started ? fcntl(ends[0], F_DUPFD_CLOEXEC, 0) : -1;
        peers->answers = reading >= 0 ? fdopen(reading, "r") : NULL;
        if (peers->answers != NULL)
            greet(peers, python);
        else if (reading >= 0)
            close(reading);
    }
    if (numbers != NULL)
        fclose(numbers);
    free(script);
    free(path);
}

void fpo_peers_time(fpo_peers *peers, const fpo_recipe_info *recipe, int64_t repeat, double seconds[FPO_PEERS])
{
    const fpo_scale_view *scale = &recipe->view.scale;
    for (int i = 0; i < FPO_PEERS; i++)
        seconds[i] = 0;
    if (!peers->present)
        return;
    char request[256];
    int length = snprintf(request, sizeof request, "%s %s %s %d %d %lld\n", recipe->name,
                          fpo_format_describe(recipe->view.element)->name,
                          scale->format == FPO_FORMAT_NONE ? "none" : fpo_format_describe(scale->format)->name,
                          (int)scale->block_rows, (int)scale->block_k, (long long)repeat);
    json_t *answer = NULL;
    if (send(peers->socket, request, (size_t)length, MSG_NOSIGNAL) == length)
        answer = read_answer(peers);
    for (int i = 0; i < FPO_PEERS; i++)
        seconds[i] = json_number_value(json_object_get(answer, fpo_peer_names[i]));
    json_decref(answer);
}

void fpo_peers_close(fpo_peers *peers)
{
    if (peers->socket >= 0)
        shutdown(peers->socket, SHUT_RDWR); /* its input ends, and so does it */
    if (peers->answers != NULL)
        fclose(peers->answers);
    if (peers->socket >= 0)
        close(peers->socket);
    if (peers->pid > 0)
        waitpid(peers->pid, NULL, 0);
}
