# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle explain code, scale and recipe. Expected values are from the definitions of the formats, worked out by hand.
. "$FPO_SOURCE_DIR/tests/cli/common.sh" || exit 1

# code: fields, value, neighbours, midpoints, casts.
run 0 explain code e4m3 0x3A; out '^e4m3 0x3A = 1.25$'; out 'bits     0 0111 010'; out 'below  0x39 = 1.125, midpoint 1.1875'
out 'above  0x3B = 1.375, midpoint 1.3125'; out '0x3A (1.25)  *0x3A (1.25)  *0x3A (1.25)  *ptx'
run 0 explain code e4m3 58; out '^e4m3 0x3A = 1.25$'
run 0 explain code e4m3 0b111010; out '^e4m3 0x3A = 1.25$'
run 0 explain code e4m3 0x7F; out '= NaN'; out 'all ones are NaN'
run 0 explain code e4m3 0x7E; out '= 448'; out 'midpoint at 464'; out '0x7E (448)  *0x7E (448)  *0x7E (448)'
run 0 explain code e5m2 0x7C; out '= inf'
run 0 explain code e5m2 0xFB; out '= -57344'; out 'midpoint at -61440'
run 0 explain code e2m1 0x72; out 'two codes: low nibble 0x2 (even k), high nibble 0x7'; out '^e2m1 0x2 = 1$'; out '^e2m1 0x7 = 6$'
run 0 explain code e2m1 0x8; out '= -0'
run 0 explain code e2m3 0xFF; out '= -7.5'; out 'bits above the code (0x3)'
run 0 explain code f32 1; out '= 2^-149'; not_out 'bits above the code'
run 0 explain code f32 0x3DCCCCCD; out '13421773 \* 2^-27 = 0.100000001490116119384765625'
run 0 explain code bf16 0x7F7F; out '= 255\*2^120'
run 0 explain code tf32 0x7FFFF; out 'NaN'
for format in $("$FP4ORACLE" list formats --json | jq -r '.formats[].name'); do
    for code in 0 1 7 15; do
        run 0 explain code "$format" $code --json; json '.codes[0].format' "$format"
        run 0 explain code "$format" $code
    done
done
run 0 explain code e4m3 0x3A --json; json '.codes[0].value' 1.25; json '.codes[0].exact' '5 * 2^-2'
json '.codes[0].below.midpoint' 1.1875; json '.codes[0].casts.ptx.midpoint_above' 0x3A

run 2 explain code e4m4 1; err "did you mean 'e4m3'"
run 2 explain code none 1; err 'no number format'
run 2 explain code e4m3 0x100; err 'more than the 8 bits'
run 2 explain code f32 0x100000000; err 'more than the 32 bits'
run 2 explain code tf32 0x80000; err 'more than the 19 bits'
for bad in '' -- x 0x 0xG 1.5 ' 1' 99999999999999999999 0x1FFFFFFFFFFFFFFFF; do
    run 2 explain code e4m3 -- "$bad"
done
run 2 explain code e4m3; err 'FORMAT BYTE'
run 2 explain code e4m3 1 2; err 'FORMAT BYTE'
run 2 explain; err 'what is to be explained'
run 2 explain cod e4m3 1; err "did you mean 'code'"

# scale
run 0 explain scale ue8m0 0x7F; out '= 1$'
run 0 explain scale ue8m0 0; out '2^-127'; out 'not zero'
run 0 explain scale ue8m0 0xFF; out 'every output that this block reaches is NaN'
run 0 explain scale ue4m3 0xB8; out '^ue4m3 0x38 = 1$'; out 'bit 7 is no part'
run 0 explain scale ue4m3 3; out 'a subnormal'; out '= 3 \* 2^-9'
run 0 explain scale f32 0x3F400000; out '0x7E with the mantissa dropped, 0x7F rounded up'; out 'byte 3 of the word'
run 0 explain scale ue4m3 0x38 --json; json .decimal 1; json .same_bits_as.ue8m0 '2^-71'
run 2 explain scale e2m1 1; err "no scale format 'e2m1'"
run 2 explain scale ue8m1 1; err "did you mean 'ue8m0'"

# recipe: a worked block. amax 6 with a tensor amax of 6: tensor scale 6/2688, block scale 448.
run 0 explain recipe nvfp4_divide -- 6 -3 0.5 0.25 0.75 -0.25
out 'tensor_amax / 2688 .*0.00223214296'; out 'ue4m3 0x7E = 448'
run 0 explain recipe nvfp4_divide --json -- 6 -3 0.5 0.25 0.75 -0.25; json '.codes | join(" ")' '0x7 0xD 0x1 0x0 0x2 0x8'
json .scale.code 0x7E
run 0 explain recipe ocp_floor_mxfp4 --json -- 3 1.25 -5; json .scale.code 0x7F; json '.codes | join(" ")' '0x5 0x2 0xE'
# Every recipe's steps, as they are shown, give the codes that the library gives (explain checks that itself).
for recipe in $("$FP4ORACLE" list recipes --json | jq -r '.recipes[].name'); do
    for dtype in f32 bf16; do
        run 0 explain recipe "$recipe" --dtype $dtype; out '^the recipe'
    done
    run 0 explain recipe "$recipe" 0 0 0 0
    run 0 explain recipe "$recipe" --dtype f16 --json nan inf 1; json .name "$recipe"
done
run 2 explain recipe nvfp4_divid; err "did you mean 'nvfp4_divide'"
run 2 explain recipe nvfp4_divide 1 x; err "'x' is no number"
run 2 explain recipe nvfp4_divide --dtype e4m3; err 'not f32, bf16 or f16'
# A tensor scale given as the library keeps it: FlashInfer's is the inverse of the multiplier.
run 0 explain recipe flashinfer_nvfp4 --library-scale 2 --json 3 1
json '.tensor[] | select(.step | startswith("tensor_scale")) | .result' 2
json '.scale.code' 0x38
run 0 explain recipe modelopt_nvfp4 --library-scale 0.5 --json 3 1
json '.scale.code' 0x38
run 2 explain recipe ocp_floor_mxfp4 --library-scale 2 1
err 'has no tensor scale to be given'
run 2 explain recipe flashinfer_nvfp4 --library-scale two 1
err 'library-scale'
finish
