# SPDX-License-Identifier: Apache-2.0
# What other projects' code is inside libkvpool.so, as scanners look for it: nothing of the file itself tells them. The library answers
# with it (kv_sbom), and it lies beside the library as libkvpool.cdx.json.
set(KVPOOL_SBOM "${PROJECT_BINARY_DIR}/libkvpool.cdx.json")

# describe_component OUT NAME VERSION LICENSE CPE_VENDOR
function(describe_component out name version license vendor)
  string(TOLOWER "${name}" id)
  string(REPLACE "+" "%2B" in_url "${id}")
  set(${out} "{\"type\":\"library\",\"bom-ref\":\"${id}\",\"name\":\"${name}\",\"version\":\"${version}\",\
\"licenses\":[{\"expression\":\"${license}\"}],\"cpe\":\"cpe:2.3:a:${vendor}:${version}:*:*:*:*:*:*:*\",\
\"purl\":\"pkg:generic/${in_url}@${version}\"}" PARENT_SCOPE)
endfunction()

file(STRINGS "${KVPOOL_OPENSSL_HEADERS}/openssl/opensslv.h" line REGEX "define OPENSSL_VERSION_STR +\"")
if(NOT line MATCHES "\"([^\"]+)\"")
  message(FATAL_ERROR "${KVPOOL_OPENSSL_HEADERS}/openssl/opensslv.h names no version")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${KVPOOL_OPENSSL_HEADERS}/openssl/opensslv.h")
describe_component(component OpenSSL "${CMAKE_MATCH_1}" Apache-2.0 openssl:openssl)
set(components "${component}")
set(names "\"openssl\"")
if(NOT KVPOOL_SANITIZE)
  foreach(name libstdc++ libgcc)
    describe_component(component ${name} "${CMAKE_CXX_COMPILER_VERSION}" "GPL-3.0-or-later WITH GCC-exception-3.1" gnu:gcc)
    string(APPEND components ",\n${component}")
    string(APPEND names ",\"${name}\"")
  endforeach()
endif()
# Neither a time nor a number of its own: the same sources give the same file.
file(CONFIGURE OUTPUT "${KVPOOL_SBOM}" CONTENT [[{"bomFormat":"CycloneDX","specVersion":"1.5","version":1,
"metadata":{"component":{"type":"library","bom-ref":"libkvpool","name":"libkvpool","version":"@PROJECT_VERSION@","licenses":[{"expression":"Apache-2.0"}]}},
"components":[
@components@],
"dependencies":[{"ref":"libkvpool","dependsOn":[@names@]}]}
]] @ONLY)
file(READ "${KVPOOL_SBOM}" text)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/sbom.cc" CONTENT [[// Made by cmake/sbom.cmake.
#include "kvpool/sbom.h"

const char* kv_sbom(void) {
  return R"sbom(@text@)sbom";
}
]] @ONLY)
