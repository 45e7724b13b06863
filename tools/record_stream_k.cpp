/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The fp4oracle authors */

/* Asks CUTLASS itself which k-tiles each unit of its Stream-K scheduler takes, on the CPU. Built and run by
 * record_stream_k.sh. A line a problem: M N K wave, then "m,n:first+count/..." for each output tile of 128 x 128. */
#include "cutlass/cutlass.h"
#include "cutlass/gemm/kernel/sm90_tile_scheduler_stream_k.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <utility>
#include <vector>

using Tile = cute::Shape<cute::_128, cute::_128, cute::_128>;
using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
using Scheduler = cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90StreamK<Tile, Cluster>;

static void problem(int m, int n, int k, int wave)
{
    cutlass::KernelHardwareInfo hardware;
    hardware.sm_count = wave;
    Scheduler::Arguments arguments;
    Scheduler::Params params = Scheduler::to_underlying_arguments(cute::make_shape(m, n, k, 1), Tile{}, Cluster{},
                                                                  hardware, arguments, nullptr);
    std::map<std::pair<int, int>, std::vector<std::pair<int, int>>> parts;
    uint64_t units = params.units_per_problem_ * params.divmod_splits_.divisor;
    for (uint64_t unit = 0; unit < units; unit++) {
        uint32_t start = 0;
        auto work = Scheduler::get_current_work_for_linear_idx(start, unit, dim3{0, 0, 0}, params);
        while (work.is_valid()) {
            parts[{work.M_idx, work.N_idx}].push_back({work.K_idx, int(work.k_tile_count)});
            if (!Scheduler::continue_current_work_for_linear_idx(unit, start, dim3{0, 0, 0}, work, params))
                break;
        }
    }
    std::printf("%d %d %d %d", m, n, k, wave);
    for (auto &tile : parts) {
        std::sort(tile.second.begin(), tile.second.end());
        std::printf(" %d,%d:", tile.first.first, tile.first.second);
        for (auto &part : tile.second)
            std::printf("%d+%d/", part.first, part.second);
    }
    std::puts("");
}

int main()
{
    std::mt19937 random(1);
    const int waves[] = {3, 5, 7, 9, 16, 36, 72, 84, 132, 144, 170, 188};
    for (int i = 0; i < 800; i++) {
        int most = i % 3 == 0 ? 4 : 14;
        int wave = waves[random() % 12], tiles_m = 1 + random() % most, tiles_n = 1 + random() % most;
        int tiles_k = i % 7 == 0 ? 8 + random() % 10 : 1 + random() % 70;
        problem(tiles_m * 128 - random() % 128, tiles_n * 128 - random() % 128, tiles_k * 128 - random() % 128, wave);
    }
}
