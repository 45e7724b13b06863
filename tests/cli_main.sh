# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The program itself: help, version, unknown commands, what happens to a report that nobody can read.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

run 0 --version; out '^fp4oracle [0-9]*\.[0-9]*\.[0-9]*$'
run 0 --help; out '^Usage: fp4oracle COMMAND'; out 'Exit status: 0'
run 0 help; out '^Usage: fp4oracle COMMAND'
run 2; err '^Usage: fp4oracle COMMAND'
run 2 lst; err "no command 'lst'; did you mean 'list'"
run 2 zzzzzzzz; err "no command 'zzzzzzzz'"
run 2 ''; err "no command ''"
run 2 --frobnicate; err "no command '--frobnicate'"
run 2 "$(head -c 5000 /dev/zero | tr '\0' x)"; err 'no command'

# Every command has a help text with an example, and refuses options that it does not have.
for command in $("$FP4ORACLE" --help | awk '/^  [a-z]+ +[a-zA-Z]/ && $1 != "fp4oracle" {print $1}'); do
    run 0 "$command" --help; out "^Usage: fp4oracle $command"; out '[Ee]xample'
    run 2 "$command" --no-such-option; err 'no-such-option'
    run 0 help "$command"; out "^Usage: fp4oracle $command"
done

# A report that cannot be written is no success.
if [ -w /dev/full ]; then
    "$FP4ORACLE" list formats >/dev/full 2>err && fail "list into a full disk ended with status 0"
fi
finish
