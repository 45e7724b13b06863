/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Runs the Check suite that the other file of this program defines. */
#include "suite.h"

#include <stdlib.h>

int main(void)
{
    /* Check's own limit of 4 seconds is too short where several builds share the machine; ctest has one too. */
    setenv("CK_DEFAULT_TIMEOUT", "600", 0);
    SRunner *runner = srunner_create(fpo_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
