/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* State and work behind the stand-in libraries. FP4ORACLE_VGPU configures the GPU (fpo_vgpu_config_parse). */
#include "standin.h"
#include "fatbin.h"
#include "tensor_map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IMAGES = 16 };

struct fpo_cuda_kernel {
    fpo_cuda_kernel *next; /* of the module */
    fpo_cuda_kernel *next_of_all;
    fpo_cuda_module *module;
    fpo_vgpu_module *image;
    char *name;
};

/* A fat binary may have PTX for several targets; the best that the GPU can take is used. */
struct fpo_cuda_module {
    fpo_vgpu_module *images[MOST_IMAGES];
    int image_count;
    fpo_cuda_kernel *kernels;
};

static struct {
    pthread_mutex_t lock;
    fpo_vgpu *gpu;
    bool failed;              /* FP4ORACLE_VGPU is wrong */
    fpo_cuda_kernel *kernels; /* of all modules */
    int last, sticky;
    char message[FPO_MESSAGE_SIZE];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fpo_cuda_lock(void)
{
    pthread_mutex_lock(&state.lock);
}

void fpo_cuda_unlock(void)
{
    pthread_mutex_unlock(&state.lock);
}

fpo_vgpu *fpo_cuda_gpu(void)
{
    if (state.gpu != NULL || state.failed)
        return state.gpu;
    const char *text = getenv("FP4ORACLE_VGPU");
    fpo_vgpu_config config;
    fpo_error error;
    fpo_status status = fpo_vgpu_config_parse(text != NULL ? text : "", &config, &error);
    if (status == FPO_OK)
        status = fpo_vgpu_new(&config, &state.gpu, &error);
    if (status != FPO_OK) {
        state.failed = true;
        fprintf(stderr, "fp4oracle: FP4ORACLE_VGPU: %s\n", error.message);
    }
    return state.gpu;
}

int fpo_cuda_fail(int code, const char *message)
{
    state.last = code;
    if (code == FPO_CUDA_LAUNCH_FAILED)
        state.sticky = code;
    snprintf(state.message, sizeof state.message, "%s", message);
    fprintf(stderr, "fp4oracle: VIRTUAL GPU: %s\n", message);
    return code;
}

int fpo_cuda_last(bool clear)
{
    int last = state.sticky != 0 ? state.sticky : state.last;
    if (clear)
        state.last = 0;
    return last;
}

const char *fpo_cuda_message(int code)
{
    if (code == 0)
        return "no error";
    return state.message[0] != '\0' ? state.message : "an error without a message";
}

static int take_ptx(void *context, const char *text, size_t length)
{
    fpo_cuda_module *module = context;
    fpo_vgpu_module *image;
    fpo_error error;
    if (module->image_count == MOST_IMAGES)
        return 1;
    if (fpo_vgpu_load(fpo_cuda_gpu(), text, length, &image, &error) != FPO_OK) {
        fpo_cuda_fail(FPO_CUDA_INVALID_IMAGE, error.message);
        return 0;
    }
    module->images[module->image_count++] = image;
    return 1;
}

/* FP4ORACLE_VGPU_PTX names a file whose PTX takes the place of every module's: an edited copy of it. */
static int take_file(fpo_cuda_module *module, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long length = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0)
        text = malloc((size_t)length + 1);
    int ok = text != NULL && fread(text, 1, (size_t)length, file) == (size_t)length;
    if (ok)
        ok = take_ptx(module, text, (size_t)length);
    else
        fpo_cuda_fail(FPO_CUDA_INVALID_IMAGE, "the file of FP4ORACLE_VGPU_PTX cannot be read");
    if (file != NULL)
        fclose(file);
    free(text);
    return ok;
}

fpo_cuda_module *fpo_cuda_module_new(const void *image, bool fat_binary)
{
    fpo_cuda_module *module = calloc(1, sizeof *module);
    if (module == NULL || fpo_cuda_gpu() == NULL) {
        free(module);
        return NULL;
    }
    const char *problem = NULL;
    bool ok;
    const char *edited = getenv("FP4ORACLE_VGPU_PTX");
    if (edited != NULL) {
        ok = take_file(module, edited);
    } else if (fat_binary || memcmp(image, "\x50\xed\x55\xba", 4) == 0) {
        ok = fpo_fatbin_each(image, take_ptx, module, &problem);
    } else if (memcmp(image,
                      "\x7f"
                      "ELF",
                      4) == 0) {
        ok = false;
        problem = "it is machine code: the virtual GPU takes PTX";
    } else {
        ok = take_ptx(module, image, strlen(image));
    }
    if (ok && module->image_count == 0) {
        ok = false;
        problem = "it has no PTX (compile with -gencode arch=compute_120a,code=compute_120a)";
    }
    if (ok)
        return module;
    if (problem != NULL) {
        char message[256];
        snprintf(message, sizeof message, "a module was not loaded: %s", problem);
        fpo_cuda_fail(FPO_CUDA_INVALID_IMAGE, message);
    }
    free(module);
    return NULL;
}

/* Larger is better; below 0: not for this GPU. sm_120 < sm_120f < sm_120a on a GPU of capability 12.0. */
static int suitability(const char *target, int capability)
{
    int number = strncmp(target, "sm_", 3) == 0 ? atoi(target + 3) : 0;
    char suffix = target[0] != '\0' ? target[strlen(target) - 1] : '0';
    if (number > capability || number == 0)
        return -1;
    if (suffix == 'a')
        return number == capability ? 4 * number + 2 : -1;
    if (suffix == 'f')
        return number / 10 == capability / 10 ? 4 * number + 1 : -1;
    return 4 * number;
}

fpo_cuda_kernel *fpo_cuda_kernel_get(fpo_cuda_module *module, const char *name)
{
    for (fpo_cuda_kernel *k = module->kernels; k != NULL; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    int capability = fpo_vgpu_configuration(fpo_cuda_gpu())->capability, best = -1;
    fpo_vgpu_module *found = NULL;
    for (int i = 0; i < module->image_count; i++) {
        int suits = suitability(fpo_vgpu_target(module->images[i]), capability);
        const char *function;
        for (size_t k = 0; suits > best && (function = fpo_vgpu_function_at(module->images[i], k)) != NULL; k++) {
            if (strcmp(function, name) == 0) {
                found = module->images[i];
                best = suits;
            }
        }
    }
    fpo_cuda_kernel *kernel = found != NULL ? calloc(1, sizeof *kernel) : NULL;
    if (kernel == NULL)
        return NULL;
    *kernel = (fpo_cuda_kernel){module->kernels, state.kernels, module, found, strdup(name)};
    if (kernel->name == NULL) {
        free(kernel);
        return NULL;
    }
    module->kernels = state.kernels = kernel;
    return kernel;
}

const char *fpo_cuda_kernel_name(const fpo_cuda_kernel *kernel)
{
    return kernel->name;
}

fpo_cuda_module *fpo_cuda_kernel_module(const fpo_cuda_kernel *kernel)
{
    return kernel->module;
}

bool fpo_cuda_is_kernel(const void *pointer)
{
    for (const fpo_cuda_kernel *k = state.kernels; k != NULL; k = k->next_of_all)
        if (k == pointer)
            return true;
    return false;
}

fpo_cuda_kernel *fpo_cuda_kernel_at(fpo_cuda_module *module, unsigned index)
{
    /* Images for other targets have the same kernels: each name counts once. */
    for (int i = 0; i < module->image_count; i++) {
        const char *name;
        for (size_t k = 0; (name = fpo_vgpu_function_at(module->images[i], k)) != NULL; k++) {
            fpo_cuda_kernel *kernel = fpo_cuda_kernel_get(module, name);
            if (kernel != NULL && kernel->image == module->images[i] && index-- == 0)
                return kernel;
        }
    }
    return NULL;
}

int fpo_cuda_describe(fpo_cuda_kernel *kernel, fpo_vgpu_function_info *info)
{
    fpo_vgpu_function *function;
    fpo_error error;
    if (fpo_vgpu_get_function(kernel->image, kernel->name, &function, &error) != FPO_OK)
        return fpo_cuda_fail(FPO_CUDA_NOT_SUPPORTED, error.message);
    *info = fpo_vgpu_describe(function);
    return FPO_CUDA_OK;
}

void *fpo_cuda_global(fpo_cuda_module *module, const char *name, size_t *bytes)
{
    for (int i = 0; i < module->image_count; i++) {
        void *variable = fpo_vgpu_variable(module->images[i], name, bytes);
        if (variable != NULL)
            return variable;
    }
    return NULL;
}

static void print_report(void *context, const char *message)
{
    fprintf(stderr, "fp4oracle: VIRTUAL GPU: check: %s\n", message);
}

int fpo_cuda_launch(fpo_cuda_kernel *kernel, fpo_cuda_dim3 grid, fpo_cuda_dim3 block, unsigned shared,
                    const unsigned *cluster, void **arguments, const void *packed)
{
    if (state.sticky != 0)
        return state.sticky;
    fpo_vgpu_function *function;
    fpo_error error;
    if (fpo_vgpu_get_function(kernel->image, kernel->name, &function, &error) != FPO_OK)
        return fpo_cuda_fail(FPO_CUDA_NOT_SUPPORTED, error.message);
    uint32_t count = fpo_vgpu_param_count(function);
    const void **pointers = malloc((count + 1) * sizeof *pointers);
    if (pointers == NULL)
        return fpo_cuda_fail(FPO_CUDA_MEMORY, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = packed != NULL ? (const char *)packed + fpo_vgpu_param_offset(function, i) : arguments[i];
    fpo_vgpu_launch launch = {.grid = {grid.x, grid.y, grid.z},
                              .block = {block.x, block.y, block.z},
                              .dynamic_shared = shared,
                              .report = print_report,
                              .arguments = pointers};
    if (cluster != NULL)
        memcpy(launch.cluster, cluster, sizeof launch.cluster);
    fpo_status status = fpo_vgpu_run(function, &launch, NULL, &error);
    free(pointers);
    if (status == FPO_OK)
        return FPO_CUDA_OK;
    int code = status == FPO_ERR_KERNEL        ? FPO_CUDA_LAUNCH_FAILED
               : status == FPO_ERR_UNSUPPORTED ? FPO_CUDA_NOT_SUPPORTED
               : status == FPO_ERR_MEMORY      ? FPO_CUDA_MEMORY
                                               : FPO_CUDA_INVALID_VALUE;
    return fpo_cuda_fail(code, error.message);
}

/* CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B to _128B_ATOM_64B. */
enum { FIRST_ATOM_SWIZZLE = 4, LAST_ATOM_SWIZZLE = 6 };

int fpo_cuda_encode_tiled(void *map, int type, unsigned rank, void *address, const unsigned long long *dim,
                          const unsigned long long *stride, const unsigned *box, const unsigned *element_stride,
                          int interleave, int swizzle, int l2_promotion, int fill)
{
    fpo_vgpu *gpu = fpo_cuda_gpu();
    if (gpu == NULL || map == NULL || rank < 1 || rank > FPO_BOX_RANK || dim == NULL || box == NULL ||
        element_stride == NULL)
        return FPO_CUDA_INVALID_VALUE;
    if (swizzle >= FIRST_ATOM_SWIZZLE && swizzle <= LAST_ATOM_SWIZZLE &&
        fpo_vgpu_configuration(gpu)->capability >= 100) {
        char text[128];
        snprintf(text, sizeof text,
                 "cuTensorMapEncodeTiled: swizzle %d, 128 bytes with atoms of 32 or 64, is not modelled", swizzle);
        return fpo_cuda_fail(FPO_CUDA_NOT_SUPPORTED, text);
    }
    fpo_tensor_request r = {.type = (uint32_t)type,
                            .rank = rank,
                            .address = (uint64_t)(uintptr_t)address,
                            .interleave = (uint32_t)interleave,
                            .swizzle = (uint32_t)swizzle,
                            .l2_promotion = (uint32_t)l2_promotion,
                            .fill = (uint32_t)fill};
    for (unsigned i = 0; i < rank; i++) {
        r.dim[i] = dim[i];
        r.box[i] = box[i];
        r.element_stride[i] = element_stride[i];
        if (i > 0)
            r.stride[i - 1] = stride[i - 1];
    }
    return fpo_tensor_map_encode(&r, fpo_vgpu_configuration(gpu)->capability, map) ? FPO_CUDA_OK
                                                                                   : FPO_CUDA_INVALID_VALUE;
}
