# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# The man page says what --help says: every command has its section, with exactly the options that the command has.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
sed 's/\\-/-/g' "$FPO_SOURCE_DIR/tools/fp4oracle.1" >page

# section COMMAND: its part of the page. options: the long options at the beginnings of lines, sorted.
section() { awk -v name="$1" '/^\.S[SH] /{in_it = ($1 == ".SS" && $2 == name)} in_it' page; }
help_options() { "$FP4ORACLE" "$1" --help | grep -oE '^ {2,6}(-[a-z], )? *--[a-z-]+' | grep -oE -e '--[a-z-]+' | grep -v -e '^--help$' -e '^--usage$' | sort -u; }
page_options() { section "$1" | grep -E '^\.BR? ' | grep -oE -e '--[a-z-]+' | sort -u; }

commands=$("$FP4ORACLE" --help | awk '/^  [a-z]+ +[a-zA-Z]/ && $1 != "fp4oracle" {print $1}')
[ "$(echo "$commands" | wc -w)" -ge 5 ] || fail "few commands: $commands"
for command in $commands; do
    [ -n "$(section "$command")" ] || { fail "the page has no section for $command"; continue; }
    grep -q "fp4oracle.*fB$command" page || fail "the synopsis lacks $command"
    [ -n "$(help_options "$command")" ] || fail "no options in $command --help"
    if ! diff <(help_options "$command") <(page_options "$command") >diff; then
        fail "options of $command (<: --help, >: the page): $(tr '\n' ' ' <diff)"
    fi
done
# And no section is of a command that there is not.
for named in $(awk '/^\.SH COMMANDS/{c = 1; next} /^\.SH/{c = 0} c && /^\.SS/{print $2}' page); do
    echo "$commands" | grep -qx "$named" || fail "the page has a section for $named, which is no command here"
done
grep -q "\"fp4oracle $("$FP4ORACLE" --version | awk '{print $2}')\"" page || fail 'the page is of another version'
for topic in $("$FP4ORACLE" list --json | jq -r 'keys[]'); do
    section list | grep -q "fB$topic" || fail "the page does not have the topic $topic of list"
done

# It is well-formed where there is a program that can tell.
if command -v man >/dev/null 2>&1; then
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$FPO_SOURCE_DIR/tools/fp4oracle.1" >/dev/null 2>warnings
    [ ! -s warnings ] || { cat warnings; fail 'man has warnings'; }
fi
finish
