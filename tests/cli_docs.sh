# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# What the documents show is what the program prints.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
for document in "$FPO_SOURCE_DIR"/docs/*.md; do
    grep -q '^```console$' "$document" || continue
    python3 "$FPO_SOURCE_DIR/tests/cli/console_blocks.py" "$document" >out 2>err || \
        fail "$document is not what is printed now; if that is right: python3 tests/cli/console_blocks.py $document --update"
done
finish
