/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Launches with other data before: nothing of them may be left. */
#include "checks_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many of the elements that changed are what the launch before gave. */
static int64_t explained(const fpo_checking *c, const fpo_outputs *right, const fpo_outputs *before)
{
    size_t size = fpo_check_element_bytes(c);
    int64_t count = 0;
    for (size_t i = 0; i < c->checks->d_bytes / size; i++) {
        count += memcmp(right->d + i * size, c->now.d + i * size, size) != 0 &&
                 memcmp(before->d + i * size, c->now.d + i * size, size) == 0;
    }
    return count;
}

/* One more launch, whose output must be `right`; `before` is what another problem gave. */
static fpo_status must_give(fpo_checking *c, const fpo_launch *how, const fpo_outputs *right, const fpo_outputs *before,
                            const char *when, bool *stale)
{
    fpo_region region;
    fpo_status status = fpo_check_launch(c, how, &c->now);
    if (status == FPO_OK && !fpo_check_same(c, right, &c->now, &region)) {
        char place[FPO_MESSAGE_SIZE / 4], origin[96] = "";
        int64_t old = explained(c, right, before);
        fpo_region_text(&region, place, sizeof place);
        if (old > 0) {
            snprintf(origin, sizeof origin, "; %" PRId64 " of these are what the launch before gave", old);
        }
        fpo_checks_note(c->checks, FPO_OUTCOME_STALE_DATA, "%s the output differs %s%s", when, place, origin);
        *stale = true;
    }
    return status;
}

/* Other data in the same buffers, then the first again; the other data elsewhere, which must give the same as before;
 * and the first data right behind them. */
fpo_status fpo_check_stale(fpo_checking *c)
{
    fpo_launch other = fpo_plain_launch, elsewhere = fpo_plain_launch, behind = fpo_plain_launch;
    other.data = FPO_LAUNCH_OTHER;
    elsewhere.data = FPO_LAUNCH_OTHER_ELSEWHERE;
    behind.data = FPO_LAUNCH_BEHIND_OTHER;
    bool stale = false;
    fpo_status status = fpo_check_launch(c, &other, &c->second);
    c->checks->other_d = status == FPO_OK ? malloc(c->checks->d_bytes + 1) : NULL;
    if (c->checks->other_d != NULL) {
        memcpy(c->checks->other_d, c->second.d, c->checks->d_bytes);
    }
    if (status == FPO_OK) {
        status = must_give(c, &fpo_plain_launch, &c->first, &c->second,
                           "after a launch with other data in the same buffers", &stale);
    }
    if (status == FPO_OK && !stale) {
        status =
            must_give(c, &elsewhere, &c->second, &c->first, "after new data were put into the same buffers", &stale);
    }
    if (status == FPO_OK && !stale) {
        status = must_give(c, &behind, &c->first, &c->second, "right behind a launch with other data", &stale);
    }
    return status;
}
