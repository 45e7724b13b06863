#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Do the tests of formats and casts notice errors?

    tests/mutate_cast.py [BUILD]        BUILD: a built tree, default build/

Plants each error below in a copy of emu/ and runs the tests until one fails; an error that none notices has survived.
Run by hand. Exit status 1 if any survived.
"""
import os
import shutil
import subprocess
import sys
import tempfile

TESTS = ["test_cast", "test_format", "test_value", "test_cast_recorded", "test_cast_mpfr", "test_cast_many"]
UNITS = ["format", "value", "cast", "casts"]
MUTANTS = [  # file of emu/, text that is there once, what replaces it, what that breaks
    ("cast.c", "c.sticky || (c.code & 1) != 0", "(c.code & 1) != 0", "sticky forgotten at a tie to even"),
    ("cast.c", "(c.sticky || (c.code & 1) != 0)", "(c.sticky || (c.code & 1) == 0)", "ties to odd"),
    ("cast.c", "c.fraction > half || (c.fraction == half && (c.sticky",
     "c.fraction >= half || (c.fraction == half && (c.sticky", "ties to even go up"),
    ("cast.c", "case FPO_NEAREST_AWAY: return c.fraction >= half",
     "case FPO_NEAREST_AWAY: return c.fraction > half", "ties away stay"),
    ("cast.c", "(c.fraction == half && c.sticky)", "false", "sticky forgotten at a tie toward zero"),
    ("cast.c", "case FPO_AWAY_FROM_ZERO: return !exact",
     "case FPO_AWAY_FROM_ZERO: return true", "away moves exact numbers"),
    ("cast.c", "bool exact = c.fraction == 0 && !c.sticky",
     "bool exact = c.fraction == 0", "sticky forgotten in directed rounding"),
    ("cast.c", "case FPO_UP: return !exact && !negative", "case FPO_UP: return !exact", "up is away from zero"),
    ("cast.c", "case FPO_DOWN: return !exact && negative", "case FPO_DOWN: return !exact && !negative", "down is up"),
    ("cast.c", "+ random_bits >= UINT64_C(1) << 32", "+ random_bits > UINT64_C(1) << 32", "stochastic carry one late"),
    ("cast.c", "(c.fraction >> 32) + random_bits", "(c.fraction >> 33) + random_bits", "stochastic fraction halved"),
    ("cast.c", "if (last < f->quantum)", "if (last < f->quantum - 1)", "subnormals start one binade late"),
    ("cast.c", "if (last < f->quantum)", "if (last <= f->quantum + 1)", "subnormals start one binade early"),
    ("cast.c", "} else if (drop < 128) {", "} else if (drop < 65) {", "far subnormals lose their fraction"),
    ("cast.c", "if (drop < 64) {", "if (drop < 63) {", "fraction of a small subnormal misplaced"),
    ("cast.c", "c.code -= 1;", ";", "ue8m0 one too large"),
    ("cast.c", "if (kept == 0)", "if (kept == 2)", "below the smallest ue8m0"),
    ("cast.c", "return (cut){0, 0, f->specials != FPO_SPECIALS_UE8M0};",
     "return (cut){0, 0, true};", "tiny ue8m0 goes up"),
    ("cast.c", "<= f->max_exponent) {", "< f->max_exponent) {", "the largest binade overflows"),
    ("cast.c", "if (c.code + up <= f->max_finite)", "if (c.code + up < f->max_finite)", "the largest number overflows"),
    ("cast.c", "if (c.code + up <= f->max_finite)",
     "if (c.code <= f->max_finite)", "a carry into infinity is let through"),
    ("cast.c", "if (never_overflows(rounding, negative))",
     "if (rounding == FPO_TOWARD_ZERO)", "up of a negative overflow"),
    ("cast.c", "rounding == FPO_TOWARD_ZERO || (rounding == FPO_UP",
     "false || (rounding == FPO_UP", "toward zero overflows"),
    ("cast.c", "overflow != FPO_SATURATE && f->specials != FPO_SPECIALS_NONE",
     "overflow != FPO_SATURATE", "overflow of e2m1 leaves the format"),
    ("cast.c", "unchecked = up ? all_ones(f) : f->max_finite;",
     "unchecked = all_ones(f);", "onnxruntime: 480 becomes NaN"),
    ("cast.c", "unchecked = up ? all_ones(f) : f->max_finite;",
     "unchecked = up ? f->max_finite + 1 : f->max_finite;", "onnxruntime: e5m2 overflow to infinity"),
    ("cast.c", "f->specials == FPO_SPECIALS_UE8M0 && nearest && c.code == 0",
     "f->specials == FPO_SPECIALS_UE8M0 && c.code == 0", "lowest_up in directed rounding"),
    ("cast.c", "            up = inexact;", "            up = true;", "lowest_up moves 2^-127"),
    ("cast.c", "if (f->specials == FPO_SPECIALS_IEEE) /*",
     "if (f->specials != FPO_SPECIALS_NONE) /*", "e4m3 has one NaN only"),
    ("cast.c", "case FPO_NAN_CANONICAL: return nan;",
     "case FPO_NAN_CANONICAL: return nan | sign_bit(f, negative);", "NaN keeps its sign"),
    ("cast.c", "return sign_bit(f, !negative)", "return sign_bit(f, negative)", "ml_dtypes zero of NaN"),
    ("cast.c", "case FPO_NO_NAN_LARGEST: return f->max_finite;",
     "case FPO_NO_NAN_LARGEST: return f->max_finite | sign_bit(f, negative);", "NaN to -6"),
    ("cast.c", "policy->infinity);", "policy->overflow);", "infinity treated as overflow"),
    ("cast.c", "magnitude == 0 && policy->drop_negative_zero",
     "policy->drop_negative_zero", "drop_negative_zero drops numbers"),
    ("cast.c", "value.negative && !negative && value.kind != FPO_ZERO",
     "value.negative && !negative", "-0 is negative"),
    ("cast.c", "policy->negative == FPO_NEGATIVE_KEEP_BIT7)", "false)", "bit 7 of ue4m3 lost"),
    ("cast.c", "policy->no_zero == FPO_NO_ZERO_NAN)", "false)", "zero in ue8m0"),
    ("format.c", "magnitude > f->max_finite", "magnitude >= f->max_finite", "largest number is not finite"),
    ("format.c", "p.exponent = (int)field - 1 + f->quantum;",
     "p.exponent = (int)field + f->quantum;", "normal numbers doubled"),
    ("format.c", "p.exponent = f->quantum;", "p.exponent = f->quantum + 1;", "subnormals doubled"),
    ("format.c", "p.significand = mantissa;",
     "p.significand = mantissa | 1u << f->mantissa_bits;", "subnormals get a leading one"),
    ("format.c", "return p.negative ? -magnitude : magnitude;",
     "return p.negative && magnitude != 0 ? -magnitude : magnitude;", "-0 decoded as +0"),
    ("format.c", "&& mantissa == 0 ? FPO_INFINITE", "&& mantissa != 0 ? FPO_INFINITE", "infinity and NaN swapped"),
    ("value.c", "value.exponent = -1074;", "value.exponent = -1075;", "subnormal doubles halved"),
    ("value.c", "x.negative != y.negative", "x.negative", "sign of a product"),
    ("value.c", "(int64_t)y.exponent - y_shift", "(int64_t)y.exponent", "comparison of unnormalised values"),
]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build")


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.emu = shutil.copytree(os.path.join(ROOT, "emu"), os.path.join(folder, "emu"))
        self.flags = ["-std=c11", "-O1", "-w", "-ffp-contract=off", "-D_GNU_SOURCE", "-fopenmp",
                      '-DFPO_SOURCE_DIR="%s"' % ROOT]
        for include in ["include", "emu", "vectors", "tests", "tests/support"]:
            self.flags.append("-I" + os.path.join(ROOT, include))
        for source in TESTS + ["main"]:
            self.compile(os.path.join(ROOT, "tests", source + ".c"), source)
        for unit in UNITS:
            self.compile(os.path.join(ROOT, "emu", unit + ".c"), unit)

    def compile(self, source, name):
        subprocess.run(["gcc"] + self.flags + ["-c", source, "-o", os.path.join(self.folder, name + ".o")], check=True)

    def failing_test(self, mutated=None):
        """The first test that fails, with unit `mutated` as its .bad.o; None if all pass."""
        objects = [os.path.join(self.folder, u + (".bad.o" if u == mutated else ".o")) for u in UNITS + ["main"]]
        archives = ["fpo_test_support", "fpo_vectors", "fp4oracle"]
        libraries = [os.path.join(BUILD, "lib", "lib%s.a" % n) for n in archives]
        system = ["-l" + n for n in "check subunit mpfr gmp zstd jansson xxhash m rt pthread".split()]
        for test in TESTS:
            program = os.path.join(self.folder, test)
            subprocess.run(["gcc", "-fopenmp", program + ".o"] + objects + libraries + system + ["-o", program],
                           check=True)
            if subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
                return test
        return None

    def plant(self, file, old, new):
        text = open(os.path.join(ROOT, "emu", file)).read()
        if text.count(old) != 1:
            sys.exit("mutate: %r is %d times in emu/%s" % (old, text.count(old), file))
        mutant = os.path.join(self.emu, file)
        with open(mutant, "w") as out:
            out.write(text.replace(old, new))
        self.compile(mutant, file[:-2] + ".bad")


def main():
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        test = bench.failing_test()
        if test:
            sys.exit("mutate: %s fails with no error planted" % test)
        survived = 0
        for file, old, new, what in MUTANTS:
            bench.plant(file, old, new)
            test = bench.failing_test(file[:-2])
            survived += test is None
            print("%-18s %-9s %s" % (test or "SURVIVED", file, what), flush=True)
        print("%d planted, %d survived" % (len(MUTANTS), survived))
        sys.exit(1 if survived else 0)


if __name__ == "__main__":
    main()
