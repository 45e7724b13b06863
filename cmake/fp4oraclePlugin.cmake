# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# fp4oracle_add_plugin(NAME SOURCE...): NAME.so, a plug-in for `fp4oracle run`. Of its symbols the one that the ABI asks
# for is visible. CUDA sources get the shared runtime, under which the virtual GPU can step in.
function(fp4oracle_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE fp4oracle::plugin)
  if(UNIX)
    target_link_libraries(${name} PRIVATE m)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Shared)
endfunction()
