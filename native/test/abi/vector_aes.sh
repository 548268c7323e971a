#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# vector_aes.sh LIBRARY: AES of the library for x86-64 has code for processors with VAES and AVX-512.
set -euo pipefail
rounds=$(objdump -d --no-show-raw-insn "$1" | grep -c 'vaesenc .*%zmm' || true)
[ "$rounds" -gt 0 ] || { echo "$1 has no AES by 512 bits: was OpenSSL older than 3.1, or its assembler older than 2.30?"; exit 1; }
echo "$rounds rounds of AES by 512 bits"
