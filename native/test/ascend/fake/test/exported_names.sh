#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# exported_names.sh SET DIRECTORY: the libraries of that set of the fake export the names that the real ones of that version do,
# and nothing else. The names are written here as the facts about CANN list them, not taken from the sources.
set -euo pipefail
set_name=$1 directory=$2

methods='C1Ev D1Ev 8FinalizeEv
11RegisterMemERKNS_7MemDescENS_7MemTypeERPv 13DeregisterMemEPv
7ConnectERKN2ge12AscendStringEi 10DisconnectERKN2ge12AscendStringEi
10InitializeERKN2ge12AscendStringERKSt3mapIS2_S2_St4lessIS2_ESaISt4pairIS3_S2_EEE'
transfer=12TransferSyncERKN2ge12AscendStringENS_10TransferOpERKSt6vectorINS_14TransferOpDescESaIS7_EEi
optional='13TransferAsyncERKN2ge12AscendStringENS_10TransferOpERKSt6vectorINS_14TransferOpDescESaIS7_EERKNS_12TransferArgsERPv
17GetTransferStatusERKPvRNS_14TransferStatusE 9MallocMemENS_7MemTypeEmPPv 7FreeMemEPv
23ExportToShareableHandleEPvR20aclrtMemFabricHandle 13GetCapabilityENS_11FeatureTypeERi'
strings='_ZN2ge12AscendStringC1EPKc _ZNK2ge12AscendStringltERKS0_ _ZNK2ge12AscendString9GetStringEv _ZNK2ge12AscendString9GetLengthEv'
acl='aclInit aclFinalize aclrtSetDevice aclrtResetDevice aclrtGetDevice aclrtGetDeviceCount aclGetRecentErrMsg aclrtGetSocName
aclrtGetVersion aclrtCreateContext aclrtDestroyContext aclrtSetCurrentContext aclrtGetCurrentContext aclrtGetPhyDevIdByLogicDevId
aclrtGetLogicDevIdByUserDevId
aclrtGetMemInfo aclrtMalloc aclrtFree aclrtMallocHost aclrtFreeHost aclrtHostRegister aclrtHostUnregister aclrtPointerGetAttributes
aclrtMemcpy aclrtMemcpyAsync aclrtMemcpyBatch aclrtMemcpyBatchAsync aclrtCreateStream aclrtCreateStreamWithConfig aclrtDestroyStream
aclrtDestroyStreamForce aclrtSynchronizeStream aclrtSynchronizeStreamWithTimeout aclrtStreamAbort aclrtMallocPhysical aclrtFreePhysical
aclrtReserveMemAddress aclrtReleaseMemAddress aclrtMapMem aclrtUnmapMem aclrtMemSetAccess aclrtMemRetainAllocationHandle
aclrtMemExportToShareableHandleV2 aclrtMemImportFromShareableHandleV2 aclrtIpcMemGetExportKey aclrtIpcMemImportByKey
aclrtIpcMemClose aclrtIpcMemSetImportPid'

prefix=_ZN4adxl10AdxlEngine string_library=libmetadef.so engine_library=libllm_datadist.so
methods="$methods $transfer $optional"
without() { for name in $1; do methods=${methods/"$name"/}; done; }
case $set_name in
    cann | cann-abi0) ;;
    cann-graph) string_library=libgraph_base.so engine_library=libadxl.so ;;
    cann-8.3)
        without "$optional"
        acl=${acl/ aclrtMemcpyBatchAsync/}
        acl=${acl/ aclrtMemcpyBatch/}
        acl=${acl/aclrtGetLogicDevIdByUserDevId/}
        ;;
    cann-8.2)
        engine_library=libadxl.so
        without "$optional"
        methods=${methods/C1Ev/C1ERKN2ge12AscendStringE}
        without '10InitializeERKN2ge12AscendStringERKSt3mapIS2_S2_St4lessIS2_ESaISt4pairIS3_S2_EEE'
        methods+=' 10InitializeERKSt3mapIN2ge12AscendStringES3_St4lessIS3_ESaISt4pairIKS3_S3_EEE'
        ;;
    cann-hixl) prefix=_ZN4hixl4Hixl engine_library=libcann_hixl.so ;;
    cann-nosymbol) without "$transfer" ;;
    *) echo "no such set: $set_name" && exit 2 ;;
esac

failed=0
# same LIBRARY NAME...: the library exports those names. The second form of constructors and destructors comes with the first.
same() {
    local library=$1 found soname
    shift
    found=$(nm -D --defined-only "$directory/$library" | awk '{print $NF}' | grep -vE '(C2|D2)E|^fake_ascend_' | sort || true)
    diff <(printf '%s\n' "$@" | sort) <(echo "$found") || { echo "^ $library: listed (<) and exported (>) differ" && failed=1; }
    soname=$(readelf -d "$directory/$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
    [ "$soname" = "$library" ] || { echo "$library calls itself $soname" && failed=1; }
}
# shellcheck disable=SC2086
same libascendcl.so $acl
# shellcheck disable=SC2086
same "$string_library" $strings
# shellcheck disable=SC2046,SC2086
same "$engine_library" $(printf "$prefix%s\n" $methods)
exit $failed
