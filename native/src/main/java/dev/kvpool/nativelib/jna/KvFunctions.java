// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib.jna;

/**
 * The prototypes of kvpool.h, agent.h and sbom.h that Java calls, for JNA's direct mapping: same names, same order, same widths. JNA binds by name alone and
 * notices neither a wrong count nor a wrong width of arguments; PrototypeTest compares these with the header.
 *
 * <p>Pointers are {@code long}: kvpool runs on 64-bit machines only, and a primitive crosses the border without an
 * object.
 */
final class KvFunctions {
    private KvFunctions() {}

    static native int kv_abi_version();

    static native int kv_get_versions(long out);

    static native long kv_sbom();

    static native long kv_status_name(int status);

    static native long kv_status_text(int status);

    static native int kv_log_level(int level);

    static native int kv_node_start(long params, long out, long err, int errSize);

    static native int kv_node_get_stats(long node, long out);

    static native int kv_node_explain(long node, long out, int outSize);

    static native void kv_node_destroy(long node);

    static native int kv_client_create(long params, long out, long err, int errSize);

    static native int kv_client_submit(long client, int opCode, long table, int count, long options, long batchOut);

    static native int kv_client_wait(long client, long batch, int timeoutMs);

    static native int kv_client_explain(long client, long out, int outSize);

    static native void kv_client_destroy(long client);

    static native int kv_agent_start(long params, long out, long err, int errSize);

    static native int kv_agent_get_stats(long agent, long out);

    static native int kv_agent_explain(long agent, long out, int outSize);

    static native void kv_agent_destroy(long agent);
}
