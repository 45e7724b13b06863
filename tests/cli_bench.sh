# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle bench --recipe: beside ml_dtypes and torch where they are, without them where not.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1
bench() { run 0 bench --shape "$1" --threads 1 --repeat 2 --recipe "${@:2}"; }

# No interpreter, one that ends at once, one that says something else, one without the packages: a line, and no failure.
printf '#!/bin/sh\nexit 3\n' >ends; printf '#!/bin/sh\necho hello\n' >chats; printf '#!/bin/sh\nread line; exit 0\n' >listens
printf '#!/bin/sh\nexec python3 -S -I "$@"\n' >bare
chmod +x ends chats listens bare
export FPO_PYTHON=$work/nothing; bench 64x16x256 ocp_floor_mxfp4
out '^nothing to compare with: .*/nothing could not be started$'; out '^ocp_floor_mxfp4  *[0-9]'; not_out ml_dtypes
for python in ends chats; do
    export FPO_PYTHON=$work/$python; bench 64x16x256 ocp_floor_mxfp4
    out "^nothing to compare with: .*/$python did not answer\$"; out '^ocp_floor_mxfp4  *[0-9]'
done
export FPO_PYTHON=$work/bare; bench 64x16x256 ocp_floor_mxfp4 --json
json .no_peers "$work/bare has neither ml_dtypes nor torch with numpy"; json .peers null
json '.recipes.ocp_floor_mxfp4 | .seconds > 0 and .peers == {}' true

# One that greets and then dies: its recipes have no peer.
printf '#!/bin/sh\necho "{\\"ml_dtypes\\": \\"9\\"}"\n' >dies; chmod +x dies
export FPO_PYTHON=$work/dies; bench 64x16x256 ocp_floor_mxfp4 --json; json .peers 'ml_dtypes 9'
json '.recipes.ocp_floor_mxfp4.peers == {}' true

# What was asked for, and the arithmetic of the ratio: a quantiser that takes ten seconds, it says.
cat >says <<'P'
#!/bin/sh
echo '{"ml_dtypes": "9", "torch": "8"}'
while read -r request; do echo "$request" >>"$0.asked"; echo '{"ml_dtypes": 10, "torch": 0.5}'; done
P
chmod +x says; export FPO_PYTHON=$work/says; bench 64x16x256 nvfp4_divide --json
json '.peers' 'ml_dtypes 9, torch 8'
json '.recipes.nvfp4_divide | .peers.ml_dtypes.seconds == 10 and (.peers.ml_dtypes.ratio * .seconds - 10 | fabs) < 1e-6' true
json '.recipes.nvfp4_divide.peers.torch.seconds' 0.5
[ "$(cat says.asked)" = 'nvfp4_divide e2m1 ue4m3 1 16 2' ] || fail "asked for: $(cat says.asked)"
bench 64x16x256 nvfp4_divide; out '^beside it: ml_dtypes 9, torch 8; '; out '^recipe .* ml_dtypes  *torch$'
# Recipes of one format are compared with one run of the peer.
rm says.asked; bench 128x16x256 all --json; json '.recipes | map(select(.peers.ml_dtypes.seconds != 10)) | length' 0
[ "$(sort says.asked | uniq -d | wc -l)" = 0 ] && [ "$(grep -c 'e2m1 ue4m3 1 16' says.asked)" -lt 5 ] || fail 'asked again and again'

# The libraries themselves, where they are installed, or crosscheck_ml_dtypes.py has made an environment of them.
for python in python3 "${XDG_CACHE_HOME:-$HOME/.cache}"/fp4oracle/venv-ml_dtypes*/bin/python; do
    "$python" -c 'import numpy, ml_dtypes' 2>/dev/null || continue
    export FPO_PYTHON=$python
    for recipe in nvfp4_divide ocp_floor_mxfp6_e3m2 te_mxfp8_e5m2 fp8_128x128_divide fp8_row_divide fp8_tensor_divide; do
        bench 256x16x512 $recipe --json; json ".recipes.$recipe.peers.ml_dtypes.ratio > 0" true
    done
    bench 100x16x100 fp8_128x128_divide --json; json '.recipes.fp8_128x128_divide.peers' '{}' # no whole blocks
    break
done
finish
