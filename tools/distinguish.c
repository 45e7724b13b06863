/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Looking for operands under which several explanations give different outputs. */
#include "distinguish.h"
#include "causes.h"
#include "generate.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static bool same_view(const fpo_operand_view *x, const fpo_operand_view *y)
{
    return x->element == y->element && x->scale.format == y->scale.format &&
           x->scale.block_rows == y->scale.block_rows && x->scale.block_k == y->scale.block_k;
}

/* Of formats with the same view, the one with a tensor scale: it can show more. */
static fpo_block_format format_of(const fpo_operand_view *view)
{
    fpo_block_format found = FPO_BLOCK_COUNT;
    for (int i = 0; i < FPO_BLOCK_COUNT; i++) {
        const fpo_block_format_info *info = fpo_block_format_describe((fpo_block_format)i);
        if (same_view(&info->view, view) && (found == FPO_BLOCK_COUNT || info->tensor_scale))
            found = (fpo_block_format)i;
    }
    return found;
}

/* Numbers that are no powers of two, and neither each other's inverses nor squares. */
static void set_scalars(const fpo_gemm_problem *like, fpo_gemm_problem *problem)
{
    problem->alpha = like->alpha != 1 ? 0.7F : 1;
    problem->a.tensor_scale = like->a.tensor_scale != 1 ? 0.3F : 1;
    problem->b.tensor_scale = like->b.tensor_scale != 1 ? 1.7F : 1;
    problem->d_scale = like->d_scale;
}

/* About `wanted`, a number of blocks that four do not divide: the padding of layouts then shows. And a multiple of 32:
 * lines of 4-bit codes are then multiples of 16 bytes, without which kernels that copy tensors cannot run the vector.
 */
static int64_t depth(const fpo_gemm_spec *spec, int64_t wanted)
{
    int32_t a = spec->a.stored.scale.block_k, b = spec->b.stored.scale.block_k, block = a > b ? a : b;
    int64_t unit = block < 32 ? 32 : block;
    return block == 0 ? wanted : (wanted / unit | 1) * unit;
}

static fpo_status generate(const fpo_subject *s, fpo_data_kind kind, const int64_t shape[3], fpo_vector **vector,
                           fpo_error *error)
{
    const fpo_gemm_spec *spec = &s->spec;
    fpo_generate wanted = {.a = format_of(&spec->a.stored),
                           .b = format_of(&spec->b.stored),
                           .d = spec->epilogue.d,
                           .c = spec->epilogue.c,
                           .bias = spec->epilogue.bias,
                           .m = shape[0],
                           .n = shape[1],
                           .k = depth(spec, shape[2]),
                           .kind = kind,
                           .seed = 1};
    if (wanted.a == FPO_BLOCK_COUNT || wanted.b == FPO_BLOCK_COUNT)
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "--distinguish: no operand format of `gen` is that of %s",
                        wanted.a == FPO_BLOCK_COUNT ? "A" : "B");
    fpo_status status = fpo_generate_vector(&wanted, vector, error);
    if (status != FPO_OK)
        return status;
    (*vector)->spec = *spec;
    set_scalars(&s->vector->problem, &(*vector)->problem);
    return FPO_OK;
}

/* The output that a cause gives, its scales behind it, or nothing where it makes no sense for these operands. */
static bool evaluate(const fpo_vector *vector, const fpo_cause *cause, uint8_t *d, size_t bytes, size_t scale_bytes)
{
    fpo_edited edited;
    fpo_gemm_output output = {d, bytes, scale_bytes > 0 ? d + bytes : NULL, scale_bytes};
    if (fpo_edited_open(&vector->spec, &vector->problem, cause->edits, cause->edit_count, &edited, NULL) != FPO_OK)
        return false;
    bool made = fpo_edited_gemm(&edited, &output, NULL, NULL) == FPO_OK;
    fpo_edited_close(&edited);
    return made;
}

/* Groups the causes by their outputs. */
static fpo_status group(const fpo_diagnosis *diagnosis, fpo_distinction *d, fpo_error *error)
{
    const fpo_gemm_problem *p = &d->vector->problem;
    size_t d_bytes = fpo_output_bytes(&d->vector->spec, p->m, p->n);
    size_t scale_bytes = fpo_output_scale_bytes(&d->vector->spec, p->m, p->n), bytes = d_bytes + scale_bytes;
    uint8_t *outputs = calloc(diagnosis->cause_count + 1, bytes);
    if (outputs == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu outputs of %zu bytes", diagnosis->cause_count, bytes);
    d->causes = diagnosis->cause_count;
    d->kinds = 0;
    for (size_t i = 0; i < d->causes; i++) {
        if (!evaluate(d->vector, &diagnosis->causes[i], outputs + i * bytes, d_bytes, scale_bytes))
            memset(outputs + i * bytes, 0, bytes);
        size_t same = 0;
        while (memcmp(outputs + same * bytes, outputs + i * bytes, bytes) != 0)
            same++;
        d->group_of[i] = same < i ? d->group_of[same] : d->kinds++;
    }
    free(outputs);
    return FPO_OK;
}

/* The purpose names the causes, as far as a line has room. */
static void set_purpose(const fpo_diagnosis *diagnosis, fpo_vector *vector)
{
    char purpose[400] = "tells apart: ";
    for (size_t i = 0; i < diagnosis->cause_count && strlen(purpose) < 300; i++) {
        char sentence[200];
        fpo_edit_sentence(&diagnosis->causes[i].edits[0], sentence, sizeof sentence);
        size_t used = strlen(purpose);
        snprintf(purpose + used, sizeof purpose - used, "%s%.90s", i > 0 ? " | " : "", sentence);
    }
    vector->purpose = fpo_vector_text(vector, purpose);
}

fpo_status fpo_distinguish(const fpo_subject *subject, const char *model, const fpo_diagnosis *all,
                           fpo_distinction *distinction, fpo_error *error)
{
    static const fpo_data_kind kinds[] = {FPO_DATA_CODES, FPO_DATA_UNIFORM, FPO_DATA_GAUSSIAN, FPO_DATA_LADDER};
    static const int64_t shapes[][3] = {{40, 48, 500}, {136, 152, 288}};
    enum { KINDS = sizeof kinds / sizeof kinds[0], SHAPES = sizeof shapes / sizeof shapes[0] };
    *distinction = (fpo_distinction){.vector = NULL};
    fpo_diagnosis findings = *all;
    findings.cause_count = 0;
    for (size_t i = 0; i < all->cause_count; i++) {
        if (fpo_cause_is_finding(all, i))
            findings.causes[findings.cause_count++] = all->causes[i];
    }
    const fpo_diagnosis *diagnosis = &findings;
    if (findings.cause_count < 2)
        return fpo_fail(error, FPO_ERR_ARGUMENT,
                        "--distinguish: there is nothing to tell apart: %zu explanations of this output",
                        findings.cause_count);
    fpo_status status = FPO_OK;
    for (size_t i = 0; i < KINDS * SHAPES && status == FPO_OK; i++) {
        fpo_distinction next = {.vector = NULL};
        status = generate(subject, kinds[i % KINDS], shapes[i / KINDS], &next.vector, error);
        if (status == FPO_OK)
            status = group(diagnosis, &next, error);
        bool better = status == FPO_OK && next.kinds > distinction->kinds;
        fpo_vector_free(better ? distinction->vector : next.vector);
        if (better)
            *distinction = next;
        if (distinction->kinds == diagnosis->cause_count)
            break;
    }
    memcpy(distinction->list, findings.causes, sizeof findings.causes);
    if (status == FPO_OK) {
        set_purpose(diagnosis, distinction->vector);
        status = fpo_vector_compute(distinction->vector, fpo_model_by_name(model), NULL, error);
    }
    if (status != FPO_OK) {
        fpo_vector_free(distinction->vector);
        distinction->vector = NULL;
    }
    return status;
}

void fpo_distinction_print(const fpo_distinction *d, const char *path)
{
    const fpo_gemm_problem *p = &d->vector->problem;
    fpo_section("%s", path);
    printf("  %-16s %lld x %lld x %lld, %s\n", "M x N x K", (long long)p->m, (long long)p->n, (long long)p->k,
           d->vector->data);
    if (d->kinds == d->causes)
        printf("  %-16s all %zu explanations: run the kernel on it and diagnose again\n", "tells apart", d->causes);
    else
        printf("  %-16s %zu groups of the %zu explanations; those within a group gave the same output with all data "
               "that was tried\n",
               "tells apart", d->kinds, d->causes);
    for (size_t i = 0; d->kinds < d->causes && i < d->causes; i++) {
        char sentence[300];
        fpo_edit_sentence(&d->list[i].edits[0], sentence, sizeof sentence);
        printf("  group %-10zu %s\n", d->group_of[i] + 1, sentence);
    }
}
