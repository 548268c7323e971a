// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib.jna;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import dev.kvpool.nativelib.KvException;
import dev.kvpool.nativelib.KvLibrary;
import dev.kvpool.nativelib.Status;

/** libkvpool through JNA's direct mapping. JNA finds it in the jar at linux-x86-64/ or linux-aarch64/. */
public final class JnaKvLibrary implements KvLibrary {
    private final String origin;

    private JnaKvLibrary(String origin) {
        this.origin = origin;
    }

    /**
     * Loads libkvpool from {@code -Djna.library.path}, or else from the class path.
     *
     * @throws KvException KV_TOO_OLD when there is none for this machine or it lacks a function
     */
    public static KvLibrary load() {
        try {
            NativeLibrary library = NativeLibrary.getInstance("kvpool");
            Native.register(KvFunctions.class, library);
            return new JnaKvLibrary(
                    library.getFile() == null ? "libkvpool" : library.getFile().getPath());
        } catch (UnsatisfiedLinkError e) {
            throw new KvException(
                    Status.TOO_OLD,
                    "cannot load libkvpool.so for " + Platform.RESOURCE_PREFIX + ": " + e.getMessage()
                            + ". It is part of the kvpool-native jar of this release, for the machine type it was built"
                            + " on; another one can be given with -Djna.library.path=DIRECTORY.",
                    e);
        }
    }

    @Override
    public int abiVersion() {
        return KvFunctions.kv_abi_version();
    }

    @Override
    public int getVersions(long out) {
        return KvFunctions.kv_get_versions(out);
    }

    @Override
    public String sbom() {
        return new Pointer(KvFunctions.kv_sbom()).getString(0, "UTF-8");
    }

    @Override
    public long statusName(int status) {
        return KvFunctions.kv_status_name(status);
    }

    @Override
    public long statusText(int status) {
        return KvFunctions.kv_status_text(status);
    }

    @Override
    public int logLevel(int level) {
        return KvFunctions.kv_log_level(level);
    }

    @Override
    public int nodeStart(long params, long out, long error, int errorSize) {
        return KvFunctions.kv_node_start(params, out, error, errorSize);
    }

    @Override
    public int nodeGetStats(long node, long out) {
        return KvFunctions.kv_node_get_stats(node, out);
    }

    @Override
    public int nodeExplain(long node, long out, int outSize) {
        return KvFunctions.kv_node_explain(node, out, outSize);
    }

    @Override
    public void nodeDestroy(long node) {
        KvFunctions.kv_node_destroy(node);
    }

    @Override
    public int clientCreate(long params, long out, long error, int errorSize) {
        return KvFunctions.kv_client_create(params, out, error, errorSize);
    }

    @Override
    public int clientSubmit(long client, int opCode, long table, int count, long options, long batchOut) {
        return KvFunctions.kv_client_submit(client, opCode, table, count, options, batchOut);
    }

    @Override
    public int clientWait(long client, long batch, int timeoutMs) {
        return KvFunctions.kv_client_wait(client, batch, timeoutMs);
    }

    @Override
    public int clientExplain(long client, long out, int outSize) {
        return KvFunctions.kv_client_explain(client, out, outSize);
    }

    @Override
    public void clientDestroy(long client) {
        KvFunctions.kv_client_destroy(client);
    }

    @Override
    public int agentStart(long params, long out, long error, int errorSize) {
        return KvFunctions.kv_agent_start(params, out, error, errorSize);
    }

    @Override
    public int agentGetStats(long agent, long out) {
        return KvFunctions.kv_agent_get_stats(agent, out);
    }

    @Override
    public int agentExplain(long agent, long out, int outSize) {
        return KvFunctions.kv_agent_explain(agent, out, outSize);
    }

    @Override
    public void agentDestroy(long agent) {
        KvFunctions.kv_agent_destroy(agent);
    }

    @Override
    public String origin() {
        return origin;
    }
}
