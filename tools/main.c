/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* The fp4oracle command: finds the subcommand and hands over. */
#include "command.h"
#include "report.h"
#include "suggest.h"

#include <argp.h>
#include <fp4oracle/fp4oracle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
#define FPO_COMMAND(name, summary) {#name, summary, fpo_cmd_##name},
#include "commands.inc"
#undef FPO_COMMAND
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const char *command_name(size_t index)
{
    return index < COMMANDS ? commands[index].name : NULL;
}

static const command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    }
    return NULL;
}

static void print_help(FILE *out)
{
    fputs("Usage: fp4oracle COMMAND [ARGUMENT...]\n"
          "Says bit for bit what an NVFP4, MXFP4, MXFP6, MXFP8 or FP8 matrix multiplication must return, whether a\n"
          "kernel did, and if not, why not.\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (commands[i].run != NULL && commands[i].summary[0] != '\0')
            fprintf(out, "  %s%-10s%s%s\n", fpo_style(out, FPO_BOLD), commands[i].name, fpo_style(out, FPO_PLAIN),
                    commands[i].summary);
    }
    fputs("\n"
          "  --help     this text; `fp4oracle COMMAND --help` has the options and an example of each\n"
          "  --version  the version of the program\n\n"
          "Exit status: 0 all bits right, 1 a divergence, 2 unusable input or arguments, 3 the kernel or device "
          "failed.\n\n"
          "Examples:\n"
          "  fp4oracle explain code e4m3 0x3A\n"
          "  fp4oracle gen --data gaussian --shape 64x64x256 --format nvfp4 -o vector.safetensors\n"
          "  fp4oracle verify vector.safetensors --output d.safetensors:d\n",
          out);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return FPO_EXIT_UNUSABLE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0) {
        print_help(stdout);
        return FPO_EXIT_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("fp4oracle %s\n", fpo_version());
        return FPO_EXIT_OK;
    }
    if (strcmp(name, "help") == 0) {
        if (argc == 2) {
            print_help(stdout);
            return FPO_EXIT_OK;
        }
        char help_option[] = "--help";
        char *help[] = {argv[0], argv[2], help_option, NULL};
        return strcmp(argv[2], "help") == 0 ? dispatch(2, argv) : dispatch(3, help);
    }
    const command *found = find(name);
    if (found == NULL || found->run == NULL) {
        const char *nearest = found != NULL ? NULL : fpo_suggest(name, command_name);
        fprintf(stderr, "fp4oracle: %s '%s'", found != NULL ? "this build has no command" : "there is no command",
                name);
        if (nearest != NULL)
            fprintf(stderr, "; did you mean '%s'?", nearest);
        fputs("\nfp4oracle: `fp4oracle --help` lists the commands\n", stderr);
        return FPO_EXIT_UNUSABLE;
    }
    char program[64];
    snprintf(program, sizeof program, "fp4oracle %s", found->name);
    argv[1] = program;
    return found->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    argp_err_exit_status = FPO_EXIT_UNUSABLE;
    int status = dispatch(argc, argv);
    /* A report that did not reach the reader is no success: a full disk, a closed pipe. */
    if ((ferror(stdout) != 0 || fclose(stdout) != 0) && status == FPO_EXIT_OK) {
        fputs("fp4oracle: the report could not be written\n", stderr);
        status = FPO_EXIT_UNUSABLE;
    }
    return status;
}
