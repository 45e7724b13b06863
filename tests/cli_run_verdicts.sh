# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle run with kernels that misbehave: the run goes on, each is reported as what it is, in text, JSON and JUnit.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
misbehave=$FPO_PLUGINS/test_plugins/misbehave.so

run 0 gen --data gaussian --shape 40x24x96 --format mxfp8_e4m3 --model fma_f32 -o mx.safetensors
run 3 run --kernel "$misbehave:*" --time-limit 2 --no-diagnosis --junit all.xml mx.safetensors
out '^match  *mx.safetensors'
out '^crashed  .*ended by signal 11 (Segmentation fault); reproduce: fp4oracle run --kernel .*misbehave.so:crashes'
out '^aborted  .*signal 6'; out '^exited  .*exit status 5'; out '^timed_out  .*no answer within 2 s, killed'
out '^out_of_memory '; out '^device_lost '; out '^failed  .*error 719'; out '^unsupported  .*K = 96'
out '^never_written  .*240 of 960 elements'; out '^out_of_bounds  .*beyond the end of D'; out '^input_changed '
out '^nondeterministic '; out '^reads_padding '; out '^reads_outside '; out '^reads_output '; out '^stale_data '
out '^mismatch  .*1 of 960 elements differ from fma_f32'
out 'it printed  *kernel: assertion failed: tile_k == 128'
cp out text

run 3 run --kernel "$misbehave:*" --time-limit 2 --no-diagnosis --json mx.safetensors
json '.results | length' "$(grep -c 'reproduce:\|^match\|^unsupported' text)"
json '.results | map(select(.kernel == "speaks"))[0].outcome' match
json '.results | map(select(.kernel == "last_words"))[0].log' 'kernel: assertion failed: tile_k == 128'
json '.results | map(select(.kernel == "hangs"))[0].status' 3
json '.summary.matched' 4
json '.results | map(.outcome) | unique | length' 18

# A kernel that behaves is not troubled by one that does not.
run 0 run --kernel "$misbehave:behaves" mx.safetensors mx.safetensors; out '^2 matched'
run 1 run --kernel "$misbehave:writes_after" mx.safetensors mx.safetensors; out '^0 matched, 2 diverged'
run 2 run --kernel "$misbehave:is_unsupported" mx.safetensors; out '^0 matched, 0 diverged, 0 failed, 1 unsupported$'

run 0 gen --data gaussian --shape 4x4x32 --format e4m3 --model exact -o plain.safetensors
run 3 run --kernel "$FPO_PLUGINS/test_plugins/aborts_at_exit.so" plain.safetensors
out '^never_written '; err 'the process of one failed when it was told to end: ended by signal 6'

# A runner that is killed takes its worker along, a kernel that hangs included.
"$FP4ORACLE" run --kernel "$misbehave:hangs" --time-limit 100 mx.safetensors >hang.log 2>&1 &
runner=$!
for _ in $(seq 200); do worker=$(grep -ls "^PPid:[[:space:]]*$runner\$" /proc/[0-9]*/status | cut -d/ -f3) && [ -n "$worker" ] && grep -q hangs hang.log && break; sleep 0.05; done
[ -n "$worker" ] || fail "no worker of $runner"
sleep 0.3
[ "$(readlink "/proc/$worker/fd/0")" = /dev/null ] || fail "the worker reads from the terminal"
[ "$(find "/proc/$worker/fd" -lname '/*' -not -lname '/dev/null' -not -lname '/memfd:*' | wc -l)" = 0 ] || fail "the worker inherited files"
kill -KILL "$runner"; wait "$runner" 2>/dev/null
for _ in $(seq 100); do kill -0 "$worker" 2>/dev/null || break; sleep 0.05; done
! kill -0 "$worker" 2>/dev/null || fail "worker $worker is still there"

# JUnit: well-formed, with the right counts, and nothing in it that XML cannot hold.
python3 - all.xml <<'P' || fail "all.xml"
import sys, xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
suite = root.find("testsuite")
cases = suite.findall("testcase")
count = lambda tag: sum(1 for c in cases if c.find(tag) is not None)
assert int(suite.get("tests")) == len(cases) > 30, len(cases)
assert int(suite.get("failures")) == count("failure") > 10
assert int(suite.get("errors")) == count("error") > 8
assert int(suite.get("skipped")) == count("skipped") == 2
properties = {p.get("name"): p.get("value") for p in suite.find("properties")}
assert properties["plugin"] == "misbehave" and properties["device.device"] == "cpu", properties
assert "plain scalar arithmetic" in properties["kernel.behaves.arithmetic"]
one = next(c for c in cases if c.get("classname") == "one_bit_wrong")
assert one.find("failure").get("type") == "mismatch" and "reproduce: fp4oracle run" in one.find("failure").text
last = next(c for c in cases if c.get("classname") == "last_words")
assert "tile_k == 128" in last.find("system-err").text
P
run 0 run --kernel "$misbehave:behaves" --junit one.xml mx.safetensors; [ -s one.xml ] || fail "one.xml"
run 2 run --kernel "$misbehave:behaves" --junit nowhere/one.xml mx.safetensors; err nowhere
cp mx.safetensors 'a <b> & "c".safetensors'
run 1 run --kernel "$misbehave:one_bit_wrong" --junit odd.xml --no-diagnosis 'a <b> & "c".safetensors'
out "reproduce: fp4oracle run --kernel .*:one_bit_wrong .*'a <b> & \"c\".safetensors'"
python3 -c 'import sys, xml.etree.ElementTree as ET
assert ET.parse("odd.xml").getroot().find(".//testcase").get("name") == "a <b> & \"c\".safetensors"' || fail odd.xml

# A name that is no UTF-8 loses no result.
odd=$(printf 'bad\377name.safetensors'); cp mx.safetensors "$odd"
run 2 run --kernel "$misbehave:one_bit_wrong" --junit odd.xml --no-diagnosis --json "$odd" "$odd"x
json '.results | length' 2; json '.results[0].vector' 'bad?name.safetensors'
python3 -c 'import xml.etree.ElementTree as ET; assert len(ET.parse("odd.xml").getroot().findall(".//testcase")) == 2' || fail odd.xml

# A device that is none.
fake=$FPO_PLUGINS/test_plugins/fake_device.so
run 0 run --kernel "$fake:fake/mxfp8" mx.safetensors
out '^device   gpu:0: Fake 9000, compute capability 12.0, 7 multiprocessors, .*fake driver 1.2'
out "computes with the device's own matrix instructions"; out 'from fake@1'
run 0 run --kernel "$fake:fake/mxfp8/retargeted" mx.safetensors; out 'EMULATED in software'
run 0 run --kernel "$fake:fake/mxfp8/sm90" --device gpu:2 mx.safetensors; out 'VIRTUAL'
run 2 run --kernel "$fake:fake/mxfp8/sm90" mx.safetensors; out 'needs compute capability 9.0, the device has 12.0'
run 2 run --kernel "$fake:fake/mxfp8" --device gpu:1 mx.safetensors; err 'gpu:1 cannot be used: its driver 1.1 is older'
run 2 run --kernel "$fake:fake/mxfp8" --device gpu:7 mx.safetensors; err "no device 'gpu:7'"
run 0 run --kernel "$fake:fake/mxfp8/split" --json mx.safetensors; json '.results | map(.variant) | join(",")' 'split 1,split 2'
json .device.compute_capability 12.0; json .device.kind gpu
FAKE_NO_DEVICES=1 run 2 run --kernel "$fake:fake/mxfp8" mx.safetensors; err 'the fake driver is not loaded'

# What there is, and why something is not: plug-ins that cannot be used do not stop the list.
mkdir plugins; cp "$FPO_PLUGINS/cpu_reference.so" "$fake" "$FPO_PLUGINS/test_plugins/crashes_on_load.so" plugins
saved=$FPO_PLUGINS
export FPO_PLUGINS=$work/plugins
run 0 list devices; out '^ *cpu  *cpu_reference '; out '^ *gpu:0  *fake_device  *Fake 9000  *12.0  *gpu  *yes  *fake driver 1.2'
out '^ *gpu:1  *fake_device .* no  *its driver 1.1 is older'; out '^ *gpu:2  *fake_device .*virtual'; out '^ *-  *crashes_on_load .*signal 6'
run 0 list devices --json; json '.devices | map(select(.of == "fake_device")) | length' 3
FAKE_NO_DEVICES=1 run 0 list devices; out 'the fake driver is not loaded'
run 0 list kernels; out '^ *fake_device:fake/mxfp8/split '; out 'unusable: A has the scale layout'; out '^ *crashes_on_load .*signal 6'
export FPO_PLUGINS=$saved

# docs/plugins.md has every outcome, with its exit status and line.
# shellcheck disable=SC2016 # backticks of Markdown
sed -n 's/^FPO_OUTCOME([A-Z_]*, "\([a-z_]*\)", \([0-9]\), "\(.*\)")/| `\1` | \2 | \3 |/p' "$FPO_SOURCE_DIR/kernels/runner/outcomes.inc" >outcomes
[ "$(wc -l <outcomes)" -ge 19 ] || fail "outcomes.inc is not read"
while read -r row; do grep -qxF -- "$row" "$FPO_SOURCE_DIR/docs/plugins.md" || fail "docs/plugins.md lacks: $row"; done <outcomes

finish
