/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Empty: replaced by the first real file of this folder. */
typedef int fpo_placeholder;
