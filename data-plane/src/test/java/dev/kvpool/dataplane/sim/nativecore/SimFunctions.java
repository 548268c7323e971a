// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;

/** The prototypes of kvpool_sim.h and kvpool_sim_client.h for JNA's direct mapping; pointers are {@code long}. */
final class SimFunctions {
    static {
        String library = System.getProperty("kvpool.sim.library");
        if (library == null) {
            throw new IllegalStateException(
                    "-Dkvpool.sim.library must name libkvpool_sim.so; native/build-library makes"
                            + " it as native/build/release/test/sim/libkvpool_sim.so");
        }
        Native.register(SimFunctions.class, NativeLibrary.getInstance(library));
    }

    private SimFunctions() {}

    static native int kv_sim_format(long params, long memory, long bytes);

    static native int kv_sim_node_create(long params, long memory, long bytes, long cutStores, int cutBytes, long out);

    static native void kv_sim_node_destroy(long node);

    static native int kv_sim_node_cut(long node, long stores, int bytes);

    static native long kv_sim_node_stores(long node);

    static native void kv_sim_node_tier_tear(long node, long random);

    static native int kv_sim_node_tier_work(long node, long job, int fails);

    static native long kv_sim_node_problem(long node);

    static native int kv_sim_node_recovery(long node, long out);

    static native int kv_sim_node_accepted(long node, long nowMs, long connection, int local, long who);

    static native int kv_sim_node_dialled(long node, long nowMs, long connection, int master);

    static native int kv_sim_node_dial_failed(long node, long nowMs, int master, int refused);

    static native int kv_sim_node_source_dialled(long node, long nowMs, long connection, long source);

    static native int kv_sim_node_source_dial_failed(long node, long source);

    static native int kv_sim_node_frame(long node, long nowMs, long connection, long body, int length);

    static native int kv_sim_node_malformed(long node, long connection);

    static native int kv_sim_node_payload_received(long node, long connection, int computedCrc, int sentCrc);

    static native int kv_sim_node_payload_sent(long node, long connection);

    static native int kv_sim_node_staging_mapped(long node, long connection, int status);

    static native int kv_sim_node_sent(long node, long connection, long bytes);

    static native int kv_sim_node_end(long node);

    static native int kv_sim_may_set_back(long memory, long bytes, long boot);

    static native void kv_sim_cut_power(long memory, long disk, long bytes, long random);

    static native int kv_sim_node_cann_answered(long node, long nowMs, long call, int status);

    static native int kv_sim_node_closed(long node, long nowMs, long connection);

    static native int kv_sim_node_tick(long node, long nowMs);

    static native int kv_sim_node_leave(long node);

    static native int kv_sim_node_next(long node, long out);

    static native int kv_sim_client_create(long params, long out);

    static native void kv_sim_client_destroy(long client);

    static native int kv_sim_client_submit(long client, long nowMs, long batch);

    static native int kv_sim_client_opened(long client, long nowMs, long connection);

    static native int kv_sim_client_closed(long client, long nowMs, long connection, long reason);

    static native int kv_sim_client_frame(long client, long nowMs, long connection, long body, int length);

    static native int kv_sim_client_payload_sent(long client, long nowMs, long connection, long transfer);

    static native int kv_sim_client_payload_received(
            long client, long nowMs, long connection, long transfer, int computedCrc, int sentCrc);

    static native int kv_sim_client_segments_mapped(long client, long nowMs, long connection, int status);

    static native int kv_sim_client_copied_to_staging(long client, long nowMs, long connection, long transfer, int crc);

    static native int kv_sim_client_copied_from_segment(
            long client, long nowMs, long connection, long transfer, int status, int crc);

    static native int kv_sim_client_staging_offered(
            long client, long nowMs, long connection, long address, long worker, long registrations);

    static native int kv_sim_client_tick(long client, long nowMs);

    static native int kv_sim_client_next(long client, long out);

    static native long kv_sim_client_explain(long client);
}
