# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

# `make install`, a CMake package (find_package(fp4oracle)) and a pkg-config file.
include(CMakePackageConfigHelpers)

install(TARGETS fp4oracle RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fp4oracle_static fp4oracle_shared EXPORT fp4oracleTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/fp4oracle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# A library built with the sanitizers needs their run-time libraries in every program that links it.
if(FPO_SANITIZE)
  foreach(library fp4oracle_static fp4oracle_shared)
    target_link_options(${library} INTERFACE -fsanitize=address,undefined)
  endforeach()
  set(FPO_PC_LIBS " -fsanitize=address,undefined")
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/tools/fp4oracle.1)
  install(FILES tools/fp4oracle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# What a plug-in needs of us: a header.
add_library(fp4oracle_plugin INTERFACE)
target_include_directories(fp4oracle_plugin INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(fp4oracle_plugin PROPERTIES EXPORT_NAME plugin)
install(TARGETS fp4oracle_plugin EXPORT fp4oracleTargets)
install(FILES cmake/fp4oraclePlugin.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fp4oracle)

install(EXPORT fp4oracleTargets NAMESPACE fp4oracle:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fp4oracle)
configure_package_config_file(cmake/fp4oracleConfig.cmake.in ${PROJECT_BINARY_DIR}/fp4oracleConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fp4oracle)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fp4oracleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fp4oracleConfig.cmake ${PROJECT_BINARY_DIR}/fp4oracleConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fp4oracle)

# Found from where the file lies: `cmake --install build --prefix ELSEWHERE` does not configure again.
file(RELATIVE_PATH FPO_PC_TO_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(cmake/fp4oracle.pc.in ${PROJECT_BINARY_DIR}/fp4oracle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fp4oracle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
