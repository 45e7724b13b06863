/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* What a kernel needs against what a vector has. */
#include "adapt.h"

#include "spec_fields.h"

#include <inttypes.h>
#include <string.h>

static const char *name_of(fpo_format format)
{
    return fpo_format_describe(format)->name;
}

static fpo_status check_operand(const char *which, const fpo_operand_want *want, const fpo_operand_spec *has,
                                fpo_error *error)
{
    const fpo_operand_view *x = &want->view, *y = &has->stored;
    if (x->element != y->element) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel takes %s for %s, the vector has %s",
                        name_of(x->element), which, name_of(y->element));
    }
    if (x->scale.format != y->scale.format) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel takes scales of format %s for %s, the vector has %s",
                        name_of(x->scale.format), which, name_of(y->scale.format));
    }
    if (x->scale.format != FPO_FORMAT_NONE &&
        (x->scale.block_rows != y->scale.block_rows || x->scale.block_k != y->scale.block_k)) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "the kernel takes a scale of %s per %dx%d elements, the vector has one per %dx%d (0: all)",
                        which, x->scale.block_rows, x->scale.block_k, y->scale.block_rows, y->scale.block_k);
    }
    if (memcmp(&has->stored, &has->read, sizeof has->read) != 0 || has->tensor_scale != FPO_TENSOR_SCALE_MULTIPLY) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the vector's spec describes a misreading of %s", which);
    }
    return FPO_OK;
}

static fpo_status check_multiple(const char *which, int64_t size, int64_t multiple, fpo_error *error)
{
    if (size % multiple != 0) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED,
                        "the kernel needs %s to be a multiple of %" PRId64 ", it is %" PRId64, which, multiple, size);
    }
    return FPO_OK;
}

static bool has_step(const fpo_epilogue *epilogue, fpo_epilogue_op op, fpo_epilogue_operand operand)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++) {
        if (epilogue->steps[i].op == op && epilogue->steps[i].operand == operand) {
            return true;
        }
    }
    return false;
}

/* Whether alpha and the tensor scales meet in the coefficient alone and in the order of the fold. */
static bool folds_alike(const fpo_epilogue *epilogue)
{
    static const fpo_epilogue_operand order[] = {FPO_EPI_A_TENSOR_SCALE, FPO_EPI_ALPHA, FPO_EPI_B_TENSOR_SCALE};
    size_t next = 0;
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++) {
        fpo_epilogue_step step = epilogue->steps[i];
        bool scalar = step.operand == FPO_EPI_ALPHA || step.operand == FPO_EPI_A_TENSOR_SCALE ||
                      step.operand == FPO_EPI_B_TENSOR_SCALE;
        if (scalar) {
            while (next < 3 && order[next] != step.operand) {
                next++;
            }
            if (next == 3 || step.op != FPO_EPI_COEF_MUL) {
                return false;
            }
        } else if (step.op == FPO_EPI_COEF_MUL) {
            return false; /* another factor of the coefficient may stand between them */
        }
    }
    return true;
}

static void fold(fpo_case *c)
{
    fpo_gemm_problem *p = &c->problem;
    bool trivial = p->a.tensor_scale == 1.0f && p->b.tensor_scale == 1.0f;
    if (!trivial) {
        c->golden = c->golden && folds_alike(&c->spec.epilogue);
        p->alpha = p->a.tensor_scale * p->alpha;
        p->alpha = p->alpha * p->b.tensor_scale;
        p->a.tensor_scale = p->b.tensor_scale = 1.0f;
    }
}

static fpo_status adapt_scalars(const fpo_kernel_info *kernel, fpo_case *c, fpo_error *error)
{
    if (kernel->tensor_scales == FPO_TENSOR_SCALES_IN_ALPHA) {
        fold(c);
    }
    if (kernel->alpha == FPO_SCALAR_NONE && c->problem.alpha != 1.0f) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel takes no alpha, the vector has %.9g",
                        (double)c->problem.alpha);
    }
    return FPO_OK;
}

static fpo_status adapt_c(const fpo_kernel_info *kernel, fpo_case *c, fpo_error *error)
{
    fpo_epilogue *e = &c->spec.epilogue;
    fpo_gemm_problem *p = &c->problem;
    bool needed = p->c != NULL && e->c != FPO_FORMAT_NONE && p->beta != 0;
    if (needed && (kernel->c.format != e->c || kernel->beta == FPO_SCALAR_NONE)) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the vector adds %.9g * C in %s, the kernel takes C in %s %s beta",
                        (double)p->beta, name_of(e->c), name_of(kernel->c.format),
                        kernel->beta == FPO_SCALAR_NONE ? "without" : "with");
    }
    if (!needed && kernel->c.format != e->c) {
        p->c = NULL;
    }
    bool bias = p->bias != NULL && e->bias != FPO_FORMAT_NONE;
    if (bias && (kernel->bias != e->bias || kernel->bias_per_row != e->bias_per_row)) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the vector has a bias in %s per %s, the kernel takes %s per %s",
                        name_of(e->bias), e->bias_per_row ? "row" : "column", name_of(kernel->bias),
                        kernel->bias_per_row ? "row" : "column");
    }
    return FPO_OK;
}

static bool is_wide(fpo_format format)
{
    return format == FPO_F32 || format == FPO_BF16 || format == FPO_F16;
}

static fpo_status adapt_output(const fpo_kernel_info *kernel, fpo_case *c, fpo_error *error)
{
    fpo_epilogue *e = &c->spec.epilogue;
    if (kernel->d.format != e->d || kernel->d_scale != e->d_scale) {
        /* The wide outputs differ in their last rounding alone; a narrow one needs a scale that the vector has not. */
        if (!is_wide(kernel->d.format) || !is_wide(e->d)) {
            return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the kernel writes %s%s, the vector's output is %s%s",
                            name_of(kernel->d.format), kernel->d_scale != FPO_FORMAT_NONE ? " with scales" : "",
                            name_of(e->d), e->d_scale != FPO_FORMAT_NONE ? " with scales" : "");
        }
        e->d = kernel->d.format;
        e->d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
        c->golden = false;
    }
    if (has_step(e, FPO_EPI_MUL, FPO_EPI_D_SCALE) && is_wide(e->d) && c->problem.d_scale != 1.0f) {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "the vector scales an output in %s", name_of(e->d));
    }
    return FPO_OK;
}

fpo_status fpo_adapt_epilogue(const fpo_kernel_order *order, fpo_case *c, fpo_error *error)
{
    fpo_epilogue_step steps[FPO_EPILOGUE_STEPS];
    if (order->epilogue == NULL) {
        return FPO_OK;
    }
    fpo_status status = fpo_epilogue_parse(order->epilogue, steps, error);
    if (status == FPO_OK) {
        c->golden = c->golden && memcmp(steps, c->spec.epilogue.steps, sizeof steps) == 0;
        memcpy(c->spec.epilogue.steps, steps, sizeof steps);
    }
    return status;
}

fpo_status fpo_adapt(const fpo_kernel_info *kernel, const fpo_vector *vector, fpo_case *c, fpo_error *error)
{
    *c = (fpo_case){.vector = vector, .spec = vector->spec, .problem = vector->problem, .golden = true};
    if (kernel->unusable[0] != '\0') {
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "%s", kernel->unusable);
    }
    fpo_status status = check_operand("A", &kernel->a, &c->spec.a, error);
    status = status == FPO_OK ? check_operand("B", &kernel->b, &c->spec.b, error) : status;
    status = status == FPO_OK ? check_multiple("M", c->problem.m, kernel->m_multiple, error) : status;
    status = status == FPO_OK ? check_multiple("N", c->problem.n, kernel->n_multiple, error) : status;
    status = status == FPO_OK ? check_multiple("K", c->problem.k, kernel->k_multiple, error) : status;
    status = status == FPO_OK ? adapt_scalars(kernel, c, error) : status;
    status = status == FPO_OK ? adapt_c(kernel, c, error) : status;
    return status == FPO_OK ? adapt_output(kernel, c, error) : status;
}
