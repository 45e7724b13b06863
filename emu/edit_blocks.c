/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Outputs with block scales after edits: y in f32 from the edited spec and problem, then quantised and written as the
 * edits say. */
#include "edit_parts.h"
#include "engine.h"

#include <fp4oracle/compare.h>
#include <fp4oracle/quantize.h>

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 /* at most */ };

/* ---- the quantiser ---- */

bool fpo_output_takes_recipe(const fpo_epilogue *epilogue, int recipe)
{
    const fpo_recipe_info *info = fpo_recipe_describe((fpo_recipe)recipe);
    if (info == NULL || epilogue->d_scale == FPO_FORMAT_NONE)
        return false;
    const fpo_scale_view *scale = &info->view.scale;
    /* What looks beyond the block, rotates, or draws random bits is no recipe of an epilogue. */
    return info->view.element == epilogue->d && scale->format == epilogue->d_scale && scale->block_rows == 1 &&
           scale->block_k == fpo_output_block(epilogue) && strstr(info->text, "row_amax") == NULL &&
           strstr(info->text, "block ") == NULL && strstr(info->text, ".rs(") == NULL &&
           strstr(info->text, "random") == NULL && strstr(info->text, "hadamard") == NULL;
}

/* What a tensor scale is in the library's words: the multiplier of a reader, its inverse, a multiple of either, or
 * nothing that the recipe knows. Found by giving it two of them. */
static float multiplier_of(const fpo_recipe_info *info, float library)
{
    float x[BLOCK] = {1.0f};
    uint8_t codes[BLOCK], scales[BLOCK];
    fpo_execution one_thread = {.threads = 1};
    fpo_quantized q = {.codes = codes,
                       .codes_bytes = fpo_operand_codes_bytes(&info->view, 1, info->view.scale.block_k),
                       .scales = scales,
                       .scales_bytes = 1,
                       .library_scale = library,
                       .given_library_scale = true};
    bool done = fpo_quantize_by(info, x, 1, info->view.scale.block_k, &q, &one_thread, NULL) == FPO_OK;
    return done ? q.tensor_scale : 1.0f;
}

/* The library's scale that stands for an output that is multiplied by `norm`; false where the recipe has no such scale,
 * and the program multiplies. */
static bool library_scale(const fpo_recipe_info *info, float norm, float *scale)
{
    float at_two = multiplier_of(info, 2.0f), at_four = multiplier_of(info, 4.0f);
    if (at_two == at_four || !(at_two > 0) || !(at_four > 0))
        return false;
    *scale = at_four > at_two ? 2.0f / at_two / norm : 2.0f * at_two * norm;
    return true;
}

static fpo_status by_recipe(const fpo_recipe_info *info, const float *library, const float *y, int64_t rows, int64_t n,
                            void *codes, void *scales, const fpo_execution *execution, fpo_error *error)
{
    fpo_quantized q = {.codes = codes,
                       .codes_bytes = fpo_operand_codes_bytes(&info->view, rows, n),
                       .scales = scales,
                       .scales_bytes = fpo_operand_scales_bytes(&info->view, rows, n)};
    if (library != NULL) {
        q.library_scale = *library;
        q.given_library_scale = true;
    }
    return fpo_quantize_by(info, y, rows, n, &q, execution, error);
}

/* The code of 1/S, to nearest. */
static uint32_t inverse(fpo_format format, uint32_t code)
{
    double scale = fpo_decode_double(format, code);
    fpo_value x = fpo_value_from_double(scale == 0 ? 0.0 : 1.0 / scale);
    return fpo_encode(format, x, fpo_cast_describe(FPO_CAST_PTX), 0);
}

/* An output of `rows` x `n` numbers: codes as fpo_gemm writes them, and its scales where they belong. */
typedef struct plan {
    fpo_edited wide; /* the same with y in f32 */
    fpo_epilogue quantiser;
    const fpo_recipe_info *recipe; /* NULL: the quantiser */
    bool has_library;
    float library;
} plan;

static bool has_norm(const fpo_epilogue *epilogue)
{
    for (int i = 0; i < FPO_EPILOGUE_STEPS && epilogue->steps[i].op != FPO_EPI_END; i++)
        if (epilogue->steps[i].op == FPO_EPI_MUL && epilogue->steps[i].operand == FPO_EPI_D_SCALE)
            return true;
    return false;
}

static void remove_norm(fpo_epilogue *epilogue)
{
    int kept = 0;
    for (int i = 0; i < FPO_EPILOGUE_STEPS; i++)
        if (epilogue->steps[i].op != FPO_EPI_MUL || epilogue->steps[i].operand != FPO_EPI_D_SCALE)
            epilogue->steps[kept++] = epilogue->steps[i];
    for (; kept < FPO_EPILOGUE_STEPS; kept++)
        epilogue->steps[kept] = (fpo_epilogue_step){FPO_EPI_END, FPO_EPI_NOTHING};
}

static plan plan_of(const fpo_edited *e)
{
    plan p = {.wide = *e, .quantiser = e->spec.epilogue};
    fpo_epilogue *wide = &p.wide.spec.epilogue;
    wide->d = FPO_F32;
    wide->d_scale = FPO_FORMAT_NONE;
    wide->d_cast = *fpo_cast_describe(FPO_CAST_IEEE);
    if (e->writing.scale != FPO_FORMAT_NONE)
        p.quantiser.d_scale = e->writing.scale;
    if (e->writing.recipe == 0)
        return p;
    p.recipe = fpo_recipe_describe((fpo_recipe)(e->writing.recipe - 1));
    float norm = has_norm(wide) ? e->problem.d_scale : 1.0f;
    p.has_library = library_scale(p.recipe, norm, &p.library);
    if (p.has_library)
        remove_norm(wide);
    return p;
}

/* Codes are zero before they are stored. */
static void store_element(fpo_format format, void *codes, int64_t n, int64_t row, int64_t column, uint32_t code)
{
    uint8_t *bytes = codes;
    if (fpo_format_describe(format)->bits == 4)
        bytes[row * (n / 2 + n % 2) + column / 2] |= (uint8_t)(code << (column % 2 == 0 ? 0 : 4));
    else
        bytes[row * n + column] = (uint8_t)code;
}

/* Quantises `rows` rows of n numbers. */
static fpo_status quantise(const plan *p, const fpo_edited *e, const float *y, int64_t rows, int64_t n, void *codes,
                           uint8_t *scales, const fpo_execution *execution, fpo_error *error)
{
    const fpo_epilogue *epilogue = &e->spec.epilogue;
    int64_t block = fpo_output_block(epilogue), columns = fpo_output_scale_columns(epilogue, n);
    fpo_status status = FPO_OK;
    if (p->recipe != NULL)
        status = by_recipe(p->recipe, p->has_library ? &p->library : NULL, y, rows, n, codes, scales, execution, error);
    for (int64_t row = 0; row < rows && p->recipe == NULL; row++)
        for (int64_t c = 0; c < columns; c++) {
            uint32_t bits[BLOCK];
            int count = (int)(n - c * block < block ? n - c * block : block);
            memcpy(bits, y + row * n + c * block, (size_t)count * sizeof *bits);
            scales[row * columns + c] = (uint8_t)fpo_quantize_output(&p->quantiser, bits, count);
            for (int i = 0; i < count; i++)
                store_element(epilogue->d, codes, n, row, c * block + i, bits[i]);
        }
    for (int64_t i = 0; i < rows * columns && status == FPO_OK && e->writing.inverted; i++)
        scales[i] = (uint8_t)inverse(p->quantiser.d_scale, scales[i]);
    return status;
}

/* ---- a whole output ---- */

static bool writes_as_asked(const fpo_edited *e)
{
    const fpo_output_writing *w = &e->writing;
    return e->map == FPO_MAP_PLACE && e->part_factor == 0.0f && w->recipe == 0 && w->scale == FPO_FORMAT_NONE &&
           !w->inverted && w->written == w->read && !w->nibbles_swapped;
}

static fpo_status move_scales(const fpo_edited *e, uint8_t *scales, fpo_error *error)
{
    fpo_layout written = e->writing.written, read = e->writing.read;
    int64_t rows = e->problem.m, columns = fpo_output_scale_columns(&e->spec.epilogue, e->problem.n);
    int64_t size = fpo_layout_size(written, rows, columns);
    if (written == read)
        return FPO_OK;
    uint8_t *memory = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (memory == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for the scales of D");
    fpo_layout_apply(written, rows, columns, 1, scales, memory, 0);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < columns; c++) {
            int64_t at = fpo_layout_offset(read, rows, columns, row, c);
            scales[row * columns + c] = at < size ? memory[at] : 0;
        }
    free(memory);
    return FPO_OK;
}

static bool fits(const fpo_edited *e)
{
    return e->map != FPO_MAP_CONSTANT && e->map != FPO_MAP_FLUSHED;
}

fpo_status fpo_edited_scaled_gemm(const fpo_edited *e, const fpo_gemm_output *output, const fpo_execution *execution,
                                  fpo_error *error)
{
    int64_t m = e->problem.m, n = e->problem.n;
    if (writes_as_asked(e))
        return fpo_gemm(&e->spec, &e->problem, output, execution, error);
    fpo_status status = fpo_problem_check(&e->spec, &e->problem, output, error);
    if (status == FPO_OK && !fits(e))
        status = fpo_fail(error, FPO_ERR_UNSUPPORTED, "the edit makes no sense for an output with block scales");
    if (status != FPO_OK)
        return status;
    plan p = plan_of(e);
    fpo_gemm_output wide = {.d_bytes = fpo_output_bytes(&p.wide.spec, m, n)};
    wide.d = malloc(wide.d_bytes);
    if (wide.d == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for an output of %zu bytes", wide.d_bytes);
    memset(output->d, 0, fpo_output_bytes(&e->spec, m, n));
    status = fpo_edited_gemm(&p.wide, &wide, execution, error);
    if (status == FPO_OK)
        status = quantise(&p, e, wide.d, m, n, output->d, output->d_scale, execution, error);
    if (status == FPO_OK)
        status = move_scales(e, output->d_scale, error);
    uint8_t *codes = output->d;
    for (size_t i = 0; status == FPO_OK && e->writing.nibbles_swapped && i < fpo_output_bytes(&e->spec, m, n); i++)
        codes[i] = (uint8_t)(codes[i] << 4 | codes[i] >> 4);
    free(wide.d);
    return status;
}

/* ---- single blocks ---- */

/* The blocks whose scales are read for these: row -1 is a byte that no scale was written to. */
static fpo_status find_scale_sources(const fpo_edited *e, const fpo_element *blocks, size_t count, fpo_element *sources,
                                     fpo_error *error)
{
    fpo_layout written = e->writing.written, read = e->writing.read;
    int64_t rows = e->problem.m, columns = fpo_output_scale_columns(&e->spec.epilogue, e->problem.n);
    int64_t size = fpo_layout_size(written, rows, columns);
    fpo_element *owner = size >= 0 ? malloc(((size_t)size + 1) * sizeof *owner) : NULL;
    if (owner == NULL)
        return fpo_fail(error, FPO_ERR_MEMORY, "no memory for the places of the scales of D");
    memset(owner, 0xFF, (size_t)size * sizeof *owner);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t c = 0; c < columns; c++)
            owner[fpo_layout_offset(written, rows, columns, row, c)] = (fpo_element){row, c};
    for (size_t i = 0; i < count; i++) {
        int64_t at = fpo_layout_offset(read, rows, columns, blocks[i].row, blocks[i].column);
        sources[i] = at < size ? owner[at] : (fpo_element){-1, -1};
    }
    free(owner);
    return FPO_OK;
}

static bool is_there(const plan *p, fpo_element block, int64_t size, int64_t column)
{
    return block.row >= 0 && block.column * size + column < p->wide.problem.n;
}

/* y of these blocks, those beyond the last column 0. */
static fpo_status wide_blocks(const plan *p, const fpo_element *blocks, size_t count, int64_t block, float *y,
                              const fpo_execution *execution, fpo_error *error)
{
    size_t found = 0;
    fpo_element *elements = malloc((count * (size_t)block + 1) * sizeof *elements);
    uint32_t *bits = malloc((count * (size_t)block + 1) * sizeof *bits);
    fpo_status status = elements != NULL && bits != NULL
                            ? FPO_OK
                            : fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu blocks of D", count);
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        for (int64_t c = 0; c < block && is_there(p, blocks[i], block, c); c++)
            elements[found++] = (fpo_element){blocks[i].row, blocks[i].column * block + c};
    if (status == FPO_OK)
        status = fpo_edited_elements(&p->wide, elements, found, bits, execution, error);
    memset(y, 0, count * (size_t)block * sizeof *y);
    found = 0;
    for (size_t i = 0; i < count && status == FPO_OK; i++)
        for (int64_t c = 0; c < block && is_there(p, blocks[i], block, c); c++)
            memcpy(&y[(int64_t)i * block + c], &bits[found++], sizeof *y);
    free(elements);
    free(bits);
    return status;
}

typedef struct gathered {
    fpo_element *blocks; /* those asked for, then those that their scales are taken from */
    float *y;
    uint8_t *codes, *scales;
} gathered;

static uint32_t word_of(const fpo_edited *e, const gathered *g, size_t i, int64_t column, uint32_t scale)
{
    int64_t block = fpo_output_block(&e->spec.epilogue), n = e->problem.n;
    int64_t at = g->blocks[i].column * block + column, from = column ^ (e->writing.nibbles_swapped ? 1 : 0);
    if (at >= n)
        return 0;
    /* The other nibble of the last byte of a row with an odd number of columns is 0. */
    uint32_t code = g->blocks[i].column * block + from < n
                        ? fpo_load_element(e->spec.epilogue.d, g->codes, block, (int64_t)i, from)
                        : 0;
    return scale << 8 | code;
}

fpo_status fpo_edited_blocks(const fpo_edited *e, const fpo_element *blocks, size_t count, uint32_t *words,
                             const fpo_execution *execution, fpo_error *error)
{
    int64_t block = fpo_output_block(&e->spec.epilogue);
    if (block == 0 || !fits(e))
        return fpo_fail(error, FPO_ERR_UNSUPPORTED, "an output without block scales, or an edit that they do not take");
    bool moved = e->writing.written != e->writing.read;
    size_t all = moved ? 2 * count : count;
    gathered g = {.blocks = malloc((all + 1) * sizeof *g.blocks),
                  .y = malloc((all + 1) * (size_t)block * sizeof *g.y),
                  .codes = calloc(all + 1, (size_t)block),
                  .scales = calloc(all + 1, 1)};
    fpo_status status = g.blocks != NULL && g.y != NULL && g.codes != NULL && g.scales != NULL
                            ? FPO_OK
                            : fpo_fail(error, FPO_ERR_MEMORY, "no memory for %zu blocks of D", all);
    plan p = plan_of(e);
    if (status == FPO_OK)
        memcpy(g.blocks, blocks, count * sizeof *blocks);
    if (status == FPO_OK && moved)
        status = find_scale_sources(e, blocks, count, g.blocks + count, error);
    if (status == FPO_OK)
        status = wide_blocks(&p, g.blocks, all, block, g.y, execution, error);
    for (size_t i = 0; i < all && status == FPO_OK; i++) {
        /* The last of a row may be short, which a recipe may notice. */
        int64_t left = g.blocks[i].row >= 0 ? e->problem.n - g.blocks[i].column * block : block;
        int64_t row_bytes = fpo_format_describe(e->spec.epilogue.d)->bits == 4 ? block / 2 : block;
        status = quantise(&p, e, g.y + (int64_t)i * block, 1, left < block ? left : block,
                          g.codes + (int64_t)i * row_bytes, g.scales + i, execution, error);
    }
    for (size_t i = 0; i < count && status == FPO_OK; i++) {
        bool written = !moved || g.blocks[count + i].row >= 0;
        uint32_t scale = written ? g.scales[moved ? count + i : i] : 0;
        for (int64_t c = 0; c < block; c++)
            words[(int64_t)i * block + c] = word_of(e, &g, i, c, scale);
    }
    free(g.blocks);
    free(g.y);
    free(g.codes);
    free(g.scales);
    return status;
}
